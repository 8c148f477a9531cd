-- Goes through the characters of texts.
for _, text in ipairs { "na\u{EF}ve", "abc", "\u{20AC}5" } do
    print(#text, pcall(function()
        local points = {}
        for _, point in utf8.codes(text) do
            points[#points + 1] = point
        end
        return table.concat(points, " ")
    end))
end
