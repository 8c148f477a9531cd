; Adds two numbers of four bytes, the lowest byte first.
        clc
        ldx 0
        lda first
        adc second
        sta 0xf0
        inx
        lda first
        adc second
        sta 0xf0
        inx
        lda first
        adc second
        sta 0xf0
        inx
        lda first
        adc second
        sta 0xf0
        hlt
first:  .byte 0xf0 0x12 0x80 0x01
second: .byte 0x0f 0x34 0x10 0x02
