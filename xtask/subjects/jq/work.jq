[.[] | select(.age > 20 and (.name | test("^[A-M].*[aeiou]$"; "i")))]
| group_by(.place)
| map({
    place: .[0].place,
    count: length,
    mean: ((map(.score) | add) / length * 1000 | floor / 1000),
    oldest: (max_by([.age, .name]) | .name),
    tags: (map(.tags[]) | unique | join(",")),
    initials: (map(.name | capture("(?<first>[A-Z])[a-z]*\\s+(?<last>[A-Z])") | .first + .last) | unique[0:5])
  })
| sort_by(-.count, .place), (reduce range(0; 2000) as $i (0; . + ($i * $i % 7))), ([limit(5; repeat("x"))] | tojson)
