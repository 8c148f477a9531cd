; Counts down and prints what is left.
start = $0200
limit = 10

        .org start
        lda #limit
again:  sta left
        call print
        lda left
        dec
        bne again
        halt

print:  push
        add #48
        out
        pop
        ret

left:   .byte 0
