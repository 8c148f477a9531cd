-- Counts characters.
for _, text in ipairs { "na\u{EF}ve", "abcdef", "\u{10FFFF}" } do
    print(#text, utf8.len(text))
end
