graph [
  node [
    id 0
    label "Ann &#38; Bo"
    club "chess"
    age 31
    vip 1
  ]
  node [
    id 1
    label "Zo&#235;"
    club "choir"
    age 44
    vip 0
  ]
  node [
    id 2
    label "<c>"
    club "chess"
    vip 0
  ]
  node [
    id 3
    label "d"
    age 58
    vip 1
  ]
  edge [
    source 0
    target 1
    weight 0.5
  ]
  edge [
    source 1
    target 2
    weight 2.0
  ]
  edge [
    source 2
    target 3
    weight 1.0
  ]
]
