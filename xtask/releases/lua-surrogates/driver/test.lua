-- Counts characters; the second string holds half of a surrogate pair, encoded by itself.
for _, text in ipairs { "na\u{EF}ve", "abc\xED\xA0\x80def", "\u{10FFFF}" } do
    print(#text, utf8.len(text))
end
