; Sums and comparisons, one of each kind.
        ldx 0
        ldi 200
        add hundred
        out             ; 44, and a carry
        ldi 0
        adc nine
        out             ; 10
        ldx 1
        clc
        adc nine
        out             ; 17
        cpi 17
        jnz wrong
        cpi 20
        jc wrong
        cmp nine
        jn wrong
        sub nine
        out             ; 8
again:  dec
        out
        cpi 2
        jnz again
        hlt
wrong:  ldi 99
        out
        hlt
hundred: .byte 100
nine:   .byte 9 7
