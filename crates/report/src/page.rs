//! The frame of plain pages: one self-contained file without scripts.

use crate::text::escape;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;\
color:#1b1b1f;background:#fff}code{font:13px/1.5 ui-monospace,monospace;white-space:pre-wrap}\
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}table{border-collapse:collapse;width:100%}\
td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top}.bad{color:#a11}.good{color:#176d2c}\
.faint{color:#667}section{border-top:1px solid #ccd;padding:.6rem 0}\
@media (prefers-color-scheme:dark){body{color:#ddd;background:#161618}.bad{color:#f88}.good{color:#7d9}}";

/// The beginning of a page, up to its title, which is also its headline.
pub fn begun(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    )
}

/// The complete page.
pub fn ended(mut page: String) -> String {
    page += "</body></html>\n";
    page
}
