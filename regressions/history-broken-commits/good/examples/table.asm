; Adds up a table; the variables are in the first page, after the code that uses them.
        .org $0400
sum:    lda #0
        sta total
        lda #length
        sta count
loop:   lda !table
        add total
        sta total
        dec count
        bne loop
        lda total
        jmp done

table:  .byte 3, 5, 7, 11
        .word loop, done
length = 4
done:   halt

        .org $0010
total:  .byte 0
count:  .byte 0
