; prints the steps of the Collatz sequence from the argument on
start:  dup
        print
        dup
        push 1
        sub
        jz end
        dup
        push 2
        mod
        jz even
        push 3
        mul
        push 1
        add
        jmp start
even:   push 2
        div
        jmp start
end:    halt
