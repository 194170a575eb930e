// Code generated from gpu/host/asm by "go generate ./gpu/host". DO NOT EDIT.

//go:build amd64

#include "textflag.h"

DATA avx2Masks<>+0(SB)/4, $0xffffffff
DATA avx2Masks<>+4(SB)/4, $0xffffffff
DATA avx2Masks<>+8(SB)/4, $0xffffffff
DATA avx2Masks<>+12(SB)/4, $0xffffffff
DATA avx2Masks<>+16(SB)/4, $0xffffffff
DATA avx2Masks<>+20(SB)/4, $0xffffffff
DATA avx2Masks<>+24(SB)/4, $0xffffffff
DATA avx2Masks<>+28(SB)/4, $0xffffffff
DATA avx2Masks<>+32(SB)/4, $0x00000000
DATA avx2Masks<>+36(SB)/4, $0x00000000
DATA avx2Masks<>+40(SB)/4, $0x00000000
DATA avx2Masks<>+44(SB)/4, $0x00000000
DATA avx2Masks<>+48(SB)/4, $0x00000000
DATA avx2Masks<>+52(SB)/4, $0x00000000
DATA avx2Masks<>+56(SB)/4, $0x00000000
DATA avx2Masks<>+60(SB)/4, $0x00000000
GLOBL avx2Masks<>(SB), RODATA|NOPTR, $64

DATA avx2One<>+0(SB)/4, $0x3f800000
DATA avx2One<>+4(SB)/4, $0x3f800000
DATA avx2One<>+8(SB)/4, $0x3f800000
DATA avx2One<>+12(SB)/4, $0x3f800000
DATA avx2One<>+16(SB)/4, $0x3f800000
DATA avx2One<>+20(SB)/4, $0x3f800000
DATA avx2One<>+24(SB)/4, $0x3f800000
DATA avx2One<>+28(SB)/4, $0x3f800000
GLOBL avx2One<>(SB), RODATA|NOPTR, $32

DATA avx2Signs<>+0(SB)/4, $0x80000000
DATA avx2Signs<>+4(SB)/4, $0x80000000
DATA avx2Signs<>+8(SB)/4, $0x80000000
DATA avx2Signs<>+12(SB)/4, $0x80000000
DATA avx2Signs<>+16(SB)/4, $0x80000000
DATA avx2Signs<>+20(SB)/4, $0x80000000
DATA avx2Signs<>+24(SB)/4, $0x80000000
DATA avx2Signs<>+28(SB)/4, $0x80000000
GLOBL avx2Signs<>(SB), RODATA|NOPTR, $32

DATA avx2NegativeInfinity<>+0(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+4(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+8(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+12(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+16(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+20(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+24(SB)/4, $0xff800000
DATA avx2NegativeInfinity<>+28(SB)/4, $0xff800000
GLOBL avx2NegativeInfinity<>(SB), RODATA|NOPTR, $32

DATA avx2ExpHigh<>+0(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+4(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+8(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+12(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+16(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+20(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+24(SB)/4, $0x42c80000
DATA avx2ExpHigh<>+28(SB)/4, $0x42c80000
GLOBL avx2ExpHigh<>(SB), RODATA|NOPTR, $32

DATA avx2ExpLow<>+0(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+4(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+8(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+12(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+16(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+20(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+24(SB)/4, $0xc2dc0000
DATA avx2ExpLow<>+28(SB)/4, $0xc2dc0000
GLOBL avx2ExpLow<>(SB), RODATA|NOPTR, $32

DATA avx2Log2E<>+0(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+4(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+8(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+12(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+16(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+20(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+24(SB)/4, $0x3fb8aa3b
DATA avx2Log2E<>+28(SB)/4, $0x3fb8aa3b
GLOBL avx2Log2E<>(SB), RODATA|NOPTR, $32

DATA avx2MinusLn2High<>+0(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+4(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+8(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+12(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+16(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+20(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+24(SB)/4, $0xbf318000
DATA avx2MinusLn2High<>+28(SB)/4, $0xbf318000
GLOBL avx2MinusLn2High<>(SB), RODATA|NOPTR, $32

DATA avx2MinusLn2Low<>+0(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+4(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+8(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+12(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+16(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+20(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+24(SB)/4, $0x395e8083
DATA avx2MinusLn2Low<>+28(SB)/4, $0x395e8083
GLOBL avx2MinusLn2Low<>(SB), RODATA|NOPTR, $32

DATA avx2Exp7<>+0(SB)/4, $0x39500d01
DATA avx2Exp7<>+4(SB)/4, $0x39500d01
DATA avx2Exp7<>+8(SB)/4, $0x39500d01
DATA avx2Exp7<>+12(SB)/4, $0x39500d01
DATA avx2Exp7<>+16(SB)/4, $0x39500d01
DATA avx2Exp7<>+20(SB)/4, $0x39500d01
DATA avx2Exp7<>+24(SB)/4, $0x39500d01
DATA avx2Exp7<>+28(SB)/4, $0x39500d01
GLOBL avx2Exp7<>(SB), RODATA|NOPTR, $32

DATA avx2Exp6<>+0(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+4(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+8(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+12(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+16(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+20(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+24(SB)/4, $0x3ab60b61
DATA avx2Exp6<>+28(SB)/4, $0x3ab60b61
GLOBL avx2Exp6<>(SB), RODATA|NOPTR, $32

DATA avx2Exp5<>+0(SB)/4, $0x3c088889
DATA avx2Exp5<>+4(SB)/4, $0x3c088889
DATA avx2Exp5<>+8(SB)/4, $0x3c088889
DATA avx2Exp5<>+12(SB)/4, $0x3c088889
DATA avx2Exp5<>+16(SB)/4, $0x3c088889
DATA avx2Exp5<>+20(SB)/4, $0x3c088889
DATA avx2Exp5<>+24(SB)/4, $0x3c088889
DATA avx2Exp5<>+28(SB)/4, $0x3c088889
GLOBL avx2Exp5<>(SB), RODATA|NOPTR, $32

DATA avx2Exp4<>+0(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+4(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+8(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+12(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+16(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+20(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+24(SB)/4, $0x3d2aaaab
DATA avx2Exp4<>+28(SB)/4, $0x3d2aaaab
GLOBL avx2Exp4<>(SB), RODATA|NOPTR, $32

DATA avx2Exp3<>+0(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+4(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+8(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+12(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+16(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+20(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+24(SB)/4, $0x3e2aaaab
DATA avx2Exp3<>+28(SB)/4, $0x3e2aaaab
GLOBL avx2Exp3<>(SB), RODATA|NOPTR, $32

DATA avx2Exp2<>+0(SB)/4, $0x3f000000
DATA avx2Exp2<>+4(SB)/4, $0x3f000000
DATA avx2Exp2<>+8(SB)/4, $0x3f000000
DATA avx2Exp2<>+12(SB)/4, $0x3f000000
DATA avx2Exp2<>+16(SB)/4, $0x3f000000
DATA avx2Exp2<>+20(SB)/4, $0x3f000000
DATA avx2Exp2<>+24(SB)/4, $0x3f000000
DATA avx2Exp2<>+28(SB)/4, $0x3f000000
GLOBL avx2Exp2<>(SB), RODATA|NOPTR, $32

DATA avx2Exp1<>+0(SB)/4, $0x3f800000
DATA avx2Exp1<>+4(SB)/4, $0x3f800000
DATA avx2Exp1<>+8(SB)/4, $0x3f800000
DATA avx2Exp1<>+12(SB)/4, $0x3f800000
DATA avx2Exp1<>+16(SB)/4, $0x3f800000
DATA avx2Exp1<>+20(SB)/4, $0x3f800000
DATA avx2Exp1<>+24(SB)/4, $0x3f800000
DATA avx2Exp1<>+28(SB)/4, $0x3f800000
GLOBL avx2Exp1<>(SB), RODATA|NOPTR, $32

DATA avx2Exp0<>+0(SB)/4, $0x3f800000
DATA avx2Exp0<>+4(SB)/4, $0x3f800000
DATA avx2Exp0<>+8(SB)/4, $0x3f800000
DATA avx2Exp0<>+12(SB)/4, $0x3f800000
DATA avx2Exp0<>+16(SB)/4, $0x3f800000
DATA avx2Exp0<>+20(SB)/4, $0x3f800000
DATA avx2Exp0<>+24(SB)/4, $0x3f800000
DATA avx2Exp0<>+28(SB)/4, $0x3f800000
GLOBL avx2Exp0<>(SB), RODATA|NOPTR, $32

DATA avx2ExponentBias<>+0(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+4(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+8(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+12(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+16(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+20(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+24(SB)/4, $0x0000007f
DATA avx2ExponentBias<>+28(SB)/4, $0x0000007f
GLOBL avx2ExponentBias<>(SB), RODATA|NOPTR, $32

DATA avx2LowNibbles<>+0(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+4(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+8(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+12(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+16(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+20(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+24(SB)/4, $0x0f0f0f0f
DATA avx2LowNibbles<>+28(SB)/4, $0x0f0f0f0f
GLOBL avx2LowNibbles<>(SB), RODATA|NOPTR, $32

DATA avx2LowWords<>+0(SB)/4, $0x0000ffff
DATA avx2LowWords<>+4(SB)/4, $0x0000ffff
DATA avx2LowWords<>+8(SB)/4, $0x0000ffff
DATA avx2LowWords<>+12(SB)/4, $0x0000ffff
DATA avx2LowWords<>+16(SB)/4, $0x0000ffff
DATA avx2LowWords<>+20(SB)/4, $0x0000ffff
DATA avx2LowWords<>+24(SB)/4, $0x0000ffff
DATA avx2LowWords<>+28(SB)/4, $0x0000ffff
GLOBL avx2LowWords<>(SB), RODATA|NOPTR, $32

DATA avx2Magnitudes<>+0(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+4(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+8(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+12(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+16(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+20(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+24(SB)/4, $0x7fffffff
DATA avx2Magnitudes<>+28(SB)/4, $0x7fffffff
GLOBL avx2Magnitudes<>(SB), RODATA|NOPTR, $32

DATA avx2Most<>+0(SB)/4, $0x42fe0000
DATA avx2Most<>+4(SB)/4, $0x42fe0000
DATA avx2Most<>+8(SB)/4, $0x42fe0000
DATA avx2Most<>+12(SB)/4, $0x42fe0000
DATA avx2Most<>+16(SB)/4, $0x42fe0000
DATA avx2Most<>+20(SB)/4, $0x42fe0000
DATA avx2Most<>+24(SB)/4, $0x42fe0000
DATA avx2Most<>+28(SB)/4, $0x42fe0000
GLOBL avx2Most<>(SB), RODATA|NOPTR, $32

DATA avx2Least<>+0(SB)/4, $0x0d800000
DATA avx2Least<>+4(SB)/4, $0x0d800000
DATA avx2Least<>+8(SB)/4, $0x0d800000
DATA avx2Least<>+12(SB)/4, $0x0d800000
DATA avx2Least<>+16(SB)/4, $0x0d800000
DATA avx2Least<>+20(SB)/4, $0x0d800000
DATA avx2Least<>+24(SB)/4, $0x0d800000
DATA avx2Least<>+28(SB)/4, $0x0d800000
GLOBL avx2Least<>(SB), RODATA|NOPTR, $32

DATA avx2PackedOrder<>+0(SB)/4, $0x00000000
DATA avx2PackedOrder<>+4(SB)/4, $0x00000004
DATA avx2PackedOrder<>+8(SB)/4, $0x00000001
DATA avx2PackedOrder<>+12(SB)/4, $0x00000005
DATA avx2PackedOrder<>+16(SB)/4, $0x00000002
DATA avx2PackedOrder<>+20(SB)/4, $0x00000006
DATA avx2PackedOrder<>+24(SB)/4, $0x00000003
DATA avx2PackedOrder<>+28(SB)/4, $0x00000007
GLOBL avx2PackedOrder<>(SB), RODATA|NOPTR, $32

DATA avx2Sixteens<>+0(SB)/4, $0x10101010
DATA avx2Sixteens<>+4(SB)/4, $0x10101010
DATA avx2Sixteens<>+8(SB)/4, $0x10101010
DATA avx2Sixteens<>+12(SB)/4, $0x10101010
DATA avx2Sixteens<>+16(SB)/4, $0x10101010
DATA avx2Sixteens<>+20(SB)/4, $0x10101010
DATA avx2Sixteens<>+24(SB)/4, $0x10101010
DATA avx2Sixteens<>+28(SB)/4, $0x10101010
GLOBL avx2Sixteens<>(SB), RODATA|NOPTR, $32

DATA avx2Low6<>+0(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+4(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+8(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+12(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+16(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+20(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+24(SB)/4, $0x3f3f3f3f
DATA avx2Low6<>+28(SB)/4, $0x3f3f3f3f
GLOBL avx2Low6<>(SB), RODATA|NOPTR, $32

DATA avx2Bits4And5<>+0(SB)/4, $0x30303030
DATA avx2Bits4And5<>+4(SB)/4, $0x30303030
DATA avx2Bits4And5<>+8(SB)/4, $0x30303030
DATA avx2Bits4And5<>+12(SB)/4, $0x30303030
DATA avx2Bits4And5<>+16(SB)/4, $0x30303030
DATA avx2Bits4And5<>+20(SB)/4, $0x30303030
DATA avx2Bits4And5<>+24(SB)/4, $0x30303030
DATA avx2Bits4And5<>+28(SB)/4, $0x30303030
GLOBL avx2Bits4And5<>(SB), RODATA|NOPTR, $32

DATA avx2CopyByte0<>+0(SB)/4, $0x00000000
DATA avx2CopyByte0<>+4(SB)/4, $0x04040404
DATA avx2CopyByte0<>+8(SB)/4, $0x08080808
DATA avx2CopyByte0<>+12(SB)/4, $0x0c0c0c0c
DATA avx2CopyByte0<>+16(SB)/4, $0x00000000
DATA avx2CopyByte0<>+20(SB)/4, $0x04040404
DATA avx2CopyByte0<>+24(SB)/4, $0x08080808
DATA avx2CopyByte0<>+28(SB)/4, $0x0c0c0c0c
GLOBL avx2CopyByte0<>(SB), RODATA|NOPTR, $32

DATA avx2WidenByte0<>+0(SB)/4, $0x80808000
DATA avx2WidenByte0<>+4(SB)/4, $0x80808004
DATA avx2WidenByte0<>+8(SB)/4, $0x80808008
DATA avx2WidenByte0<>+12(SB)/4, $0x8080800c
DATA avx2WidenByte0<>+16(SB)/4, $0x80808000
DATA avx2WidenByte0<>+20(SB)/4, $0x80808004
DATA avx2WidenByte0<>+24(SB)/4, $0x80808008
DATA avx2WidenByte0<>+28(SB)/4, $0x8080800c
GLOBL avx2WidenByte0<>(SB), RODATA|NOPTR, $32

DATA avx2CopyByte1<>+0(SB)/4, $0x01010101
DATA avx2CopyByte1<>+4(SB)/4, $0x05050505
DATA avx2CopyByte1<>+8(SB)/4, $0x09090909
DATA avx2CopyByte1<>+12(SB)/4, $0x0d0d0d0d
DATA avx2CopyByte1<>+16(SB)/4, $0x01010101
DATA avx2CopyByte1<>+20(SB)/4, $0x05050505
DATA avx2CopyByte1<>+24(SB)/4, $0x09090909
DATA avx2CopyByte1<>+28(SB)/4, $0x0d0d0d0d
GLOBL avx2CopyByte1<>(SB), RODATA|NOPTR, $32

DATA avx2WidenByte1<>+0(SB)/4, $0x80808001
DATA avx2WidenByte1<>+4(SB)/4, $0x80808005
DATA avx2WidenByte1<>+8(SB)/4, $0x80808009
DATA avx2WidenByte1<>+12(SB)/4, $0x8080800d
DATA avx2WidenByte1<>+16(SB)/4, $0x80808001
DATA avx2WidenByte1<>+20(SB)/4, $0x80808005
DATA avx2WidenByte1<>+24(SB)/4, $0x80808009
DATA avx2WidenByte1<>+28(SB)/4, $0x8080800d
GLOBL avx2WidenByte1<>(SB), RODATA|NOPTR, $32

DATA avx2CopyByte2<>+0(SB)/4, $0x02020202
DATA avx2CopyByte2<>+4(SB)/4, $0x06060606
DATA avx2CopyByte2<>+8(SB)/4, $0x0a0a0a0a
DATA avx2CopyByte2<>+12(SB)/4, $0x0e0e0e0e
DATA avx2CopyByte2<>+16(SB)/4, $0x02020202
DATA avx2CopyByte2<>+20(SB)/4, $0x06060606
DATA avx2CopyByte2<>+24(SB)/4, $0x0a0a0a0a
DATA avx2CopyByte2<>+28(SB)/4, $0x0e0e0e0e
GLOBL avx2CopyByte2<>(SB), RODATA|NOPTR, $32

DATA avx2WidenByte2<>+0(SB)/4, $0x80808002
DATA avx2WidenByte2<>+4(SB)/4, $0x80808006
DATA avx2WidenByte2<>+8(SB)/4, $0x8080800a
DATA avx2WidenByte2<>+12(SB)/4, $0x8080800e
DATA avx2WidenByte2<>+16(SB)/4, $0x80808002
DATA avx2WidenByte2<>+20(SB)/4, $0x80808006
DATA avx2WidenByte2<>+24(SB)/4, $0x8080800a
DATA avx2WidenByte2<>+28(SB)/4, $0x8080800e
GLOBL avx2WidenByte2<>(SB), RODATA|NOPTR, $32

DATA avx2CopyByte3<>+0(SB)/4, $0x03030303
DATA avx2CopyByte3<>+4(SB)/4, $0x07070707
DATA avx2CopyByte3<>+8(SB)/4, $0x0b0b0b0b
DATA avx2CopyByte3<>+12(SB)/4, $0x0f0f0f0f
DATA avx2CopyByte3<>+16(SB)/4, $0x03030303
DATA avx2CopyByte3<>+20(SB)/4, $0x07070707
DATA avx2CopyByte3<>+24(SB)/4, $0x0b0b0b0b
DATA avx2CopyByte3<>+28(SB)/4, $0x0f0f0f0f
GLOBL avx2CopyByte3<>(SB), RODATA|NOPTR, $32

DATA avx2WidenByte3<>+0(SB)/4, $0x80808003
DATA avx2WidenByte3<>+4(SB)/4, $0x80808007
DATA avx2WidenByte3<>+8(SB)/4, $0x8080800b
DATA avx2WidenByte3<>+12(SB)/4, $0x8080800f
DATA avx2WidenByte3<>+16(SB)/4, $0x80808003
DATA avx2WidenByte3<>+20(SB)/4, $0x80808007
DATA avx2WidenByte3<>+24(SB)/4, $0x8080800b
DATA avx2WidenByte3<>+28(SB)/4, $0x8080800f
GLOBL avx2WidenByte3<>(SB), RODATA|NOPTR, $32

DATA avx2SelectBits0<>+0(SB)/4, $0x08040201
DATA avx2SelectBits0<>+4(SB)/4, $0x08040201
DATA avx2SelectBits0<>+8(SB)/4, $0x08040201
DATA avx2SelectBits0<>+12(SB)/4, $0x08040201
DATA avx2SelectBits0<>+16(SB)/4, $0x08040201
DATA avx2SelectBits0<>+20(SB)/4, $0x08040201
DATA avx2SelectBits0<>+24(SB)/4, $0x08040201
DATA avx2SelectBits0<>+28(SB)/4, $0x08040201
GLOBL avx2SelectBits0<>(SB), RODATA|NOPTR, $32

DATA avx2FirstScale0<>+0(SB)/4, $0x00800080
DATA avx2FirstScale0<>+4(SB)/4, $0x04800480
DATA avx2FirstScale0<>+8(SB)/4, $0x08800880
DATA avx2FirstScale0<>+12(SB)/4, $0x0c800c80
DATA avx2FirstScale0<>+16(SB)/4, $0x00800080
DATA avx2FirstScale0<>+20(SB)/4, $0x04800480
DATA avx2FirstScale0<>+24(SB)/4, $0x08800880
DATA avx2FirstScale0<>+28(SB)/4, $0x0c800c80
GLOBL avx2FirstScale0<>(SB), RODATA|NOPTR, $32

DATA avx2LastScale0<>+0(SB)/4, $0x01800180
DATA avx2LastScale0<>+4(SB)/4, $0x05800580
DATA avx2LastScale0<>+8(SB)/4, $0x09800980
DATA avx2LastScale0<>+12(SB)/4, $0x0d800d80
DATA avx2LastScale0<>+16(SB)/4, $0x01800180
DATA avx2LastScale0<>+20(SB)/4, $0x05800580
DATA avx2LastScale0<>+24(SB)/4, $0x09800980
DATA avx2LastScale0<>+28(SB)/4, $0x0d800d80
GLOBL avx2LastScale0<>(SB), RODATA|NOPTR, $32

DATA avx2BothScales0<>+0(SB)/4, $0x01800080
DATA avx2BothScales0<>+4(SB)/4, $0x05800480
DATA avx2BothScales0<>+8(SB)/4, $0x09800880
DATA avx2BothScales0<>+12(SB)/4, $0x0d800c80
DATA avx2BothScales0<>+16(SB)/4, $0x01800080
DATA avx2BothScales0<>+20(SB)/4, $0x05800480
DATA avx2BothScales0<>+24(SB)/4, $0x09800880
DATA avx2BothScales0<>+28(SB)/4, $0x0d800c80
GLOBL avx2BothScales0<>(SB), RODATA|NOPTR, $32

DATA avx2SelectBits1<>+0(SB)/4, $0x80402010
DATA avx2SelectBits1<>+4(SB)/4, $0x80402010
DATA avx2SelectBits1<>+8(SB)/4, $0x80402010
DATA avx2SelectBits1<>+12(SB)/4, $0x80402010
DATA avx2SelectBits1<>+16(SB)/4, $0x80402010
DATA avx2SelectBits1<>+20(SB)/4, $0x80402010
DATA avx2SelectBits1<>+24(SB)/4, $0x80402010
DATA avx2SelectBits1<>+28(SB)/4, $0x80402010
GLOBL avx2SelectBits1<>(SB), RODATA|NOPTR, $32

DATA avx2FirstScale1<>+0(SB)/4, $0x02800280
DATA avx2FirstScale1<>+4(SB)/4, $0x06800680
DATA avx2FirstScale1<>+8(SB)/4, $0x0a800a80
DATA avx2FirstScale1<>+12(SB)/4, $0x0e800e80
DATA avx2FirstScale1<>+16(SB)/4, $0x02800280
DATA avx2FirstScale1<>+20(SB)/4, $0x06800680
DATA avx2FirstScale1<>+24(SB)/4, $0x0a800a80
DATA avx2FirstScale1<>+28(SB)/4, $0x0e800e80
GLOBL avx2FirstScale1<>(SB), RODATA|NOPTR, $32

DATA avx2LastScale1<>+0(SB)/4, $0x03800380
DATA avx2LastScale1<>+4(SB)/4, $0x07800780
DATA avx2LastScale1<>+8(SB)/4, $0x0b800b80
DATA avx2LastScale1<>+12(SB)/4, $0x0f800f80
DATA avx2LastScale1<>+16(SB)/4, $0x03800380
DATA avx2LastScale1<>+20(SB)/4, $0x07800780
DATA avx2LastScale1<>+24(SB)/4, $0x0b800b80
DATA avx2LastScale1<>+28(SB)/4, $0x0f800f80
GLOBL avx2LastScale1<>(SB), RODATA|NOPTR, $32

DATA avx2BothScales1<>+0(SB)/4, $0x03800280
DATA avx2BothScales1<>+4(SB)/4, $0x07800680
DATA avx2BothScales1<>+8(SB)/4, $0x0b800a80
DATA avx2BothScales1<>+12(SB)/4, $0x0f800e80
DATA avx2BothScales1<>+16(SB)/4, $0x03800280
DATA avx2BothScales1<>+20(SB)/4, $0x07800680
DATA avx2BothScales1<>+24(SB)/4, $0x0b800a80
DATA avx2BothScales1<>+28(SB)/4, $0x0f800e80
GLOBL avx2BothScales1<>(SB), RODATA|NOPTR, $32

// func asmDotsF32_4x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, FMA3
TEXT ·asmDotsF32_4x1(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), SI
	MOVQ   n+40(FP), DI
	XORQ   R8, R8
	SHRQ   $0x03, DI
	JZ     tail

loop:
	VMOVUPS     (SI)(R8*1), Y4
	VMOVUPS     (CX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y0
	VMOVUPS     (DX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y1
	VMOVUPS     (BX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y2
	VMOVUPS     (AX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y3
	ADDQ        $0x20, R8
	DECQ        DI
	JNZ         loop

tail:
	MOVQ        n+40(FP), DI
	ANDQ        $0x07, DI
	MOVQ        DI, R9
	NEGQ        R9
	LEAQ        avx2Masks<>+0(SB), R10
	VMOVUPS     32(R10)(R9*4), Y4
	TESTQ       DI, DI
	JZ          reduce
	VMASKMOVPS  (CX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y6
	VFMADD231PS Y6, Y5, Y0
	VMASKMOVPS  (DX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y6
	VFMADD231PS Y6, Y5, Y1
	VMASKMOVPS  (BX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y6
	VFMADD231PS Y6, Y5, Y2
	VMASKMOVPS  (AX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y4
	VFMADD231PS Y4, Y5, Y3

reduce:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y1, Y0, Y4
	VPERM2F128   $0x31, Y1, Y0, Y0
	VADDPS       Y0, Y4, Y0
	VPERM2F128   $0x20, Y3, Y2, Y1
	VPERM2F128   $0x31, Y3, Y2, Y2
	VADDPS       Y2, Y1, Y2
	VUNPCKLPS    Y2, Y0, Y1
	VUNPCKHPS    Y2, Y0, Y0
	VADDPS       Y0, Y1, Y0
	VPERMILPD    $0x05, Y0, Y1
	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X1
	VUNPCKLPS    X1, X0, X1
	VMOVUPS      X1, (AX)
	VZEROUPPER
	RET

// func asmDotsF32_1x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, FMA3
TEXT ·asmDotsF32_1x1(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), CX
	MOVQ   n+40(FP), DX
	XORQ   BX, BX
	SHRQ   $0x03, DX
	JZ     tail

loop:
	VMOVUPS     (CX)(BX*1), Y1
	VMOVUPS     (AX)(BX*1), Y2
	VFMADD231PS Y1, Y2, Y0
	ADDQ        $0x20, BX
	DECQ        DX
	JNZ         loop

tail:
	MOVQ        n+40(FP), DX
	ANDQ        $0x07, DX
	MOVQ        DX, SI
	NEGQ        SI
	LEAQ        avx2Masks<>+0(SB), DI
	VMOVUPS     32(DI)(SI*4), Y1
	TESTQ       DX, DX
	JZ          reduce
	VMASKMOVPS  (AX)(BX*1), Y1, Y2
	VMASKMOVPS  (CX)(BX*1), Y1, Y1
	VFMADD231PS Y1, Y2, Y0

reduce:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X1
	VADDPS       X1, X0, X1
	VMOVHLPS     X1, X1, X0
	VADDPS       X0, X1, X1
	VMOVSHDUP    X1, X0
	VADDSS       X0, X1, X1
	VMOVSS       X1, (AX)
	VZEROUPPER
	RET

// func asmDotsF32_4x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, FMA3
TEXT ·asmDotsF32_4x2(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), DI
	LEAQ   (DI)(SI*4), SI
	MOVQ   n+40(FP), R8
	XORQ   R9, R9
	SHRQ   $0x03, R8
	JZ     tail

loop:
	VMOVUPS     (DI)(R9*1), Y8
	VMOVUPS     (SI)(R9*1), Y9
	VMOVUPS     (CX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	VMOVUPS     (DX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y2
	VFMADD231PS Y9, Y10, Y3
	VMOVUPS     (BX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y4
	VFMADD231PS Y9, Y10, Y5
	VMOVUPS     (AX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y6
	VFMADD231PS Y9, Y10, Y7
	ADDQ        $0x20, R9
	DECQ        R8
	JNZ         loop

tail:
	MOVQ        n+40(FP), R8
	ANDQ        $0x07, R8
	MOVQ        R8, R10
	NEGQ        R10
	LEAQ        avx2Masks<>+0(SB), R11
	VMOVUPS     32(R11)(R10*4), Y8
	TESTQ       R8, R8
	JZ          reduce
	VMASKMOVPS  (CX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y0
	VMASKMOVPS  (SI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y1
	VMASKMOVPS  (DX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y2
	VMASKMOVPS  (SI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y3
	VMASKMOVPS  (BX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y4
	VMASKMOVPS  (SI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y5
	VMASKMOVPS  (AX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y6
	VMASKMOVPS  (SI)(R9*1), Y8, Y8
	VFMADD231PS Y8, Y9, Y7

reduce:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y2, Y0, Y8
	VPERM2F128   $0x31, Y2, Y0, Y0
	VADDPS       Y0, Y8, Y0
	VPERM2F128   $0x20, Y6, Y4, Y2
	VPERM2F128   $0x31, Y6, Y4, Y4
	VADDPS       Y4, Y2, Y4
	VUNPCKLPS    Y4, Y0, Y2
	VUNPCKHPS    Y4, Y0, Y0
	VADDPS       Y0, Y2, Y0
	VPERMILPD    $0x05, Y0, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X2
	VUNPCKLPS    X2, X0, X2
	VMOVUPS      X2, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y3, Y1, Y0
	VPERM2F128   $0x31, Y3, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERM2F128   $0x20, Y7, Y5, Y0
	VPERM2F128   $0x31, Y7, Y5, Y5
	VADDPS       Y5, Y0, Y5
	VUNPCKLPS    Y5, Y1, Y0
	VUNPCKHPS    Y5, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERMILPD    $0x05, Y1, Y0
	VADDPS       Y0, Y1, Y1
	VEXTRACTF128 $0x01, Y1, X0
	VUNPCKLPS    X0, X1, X0
	VMOVUPS      X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF32_1x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, FMA3
TEXT ·asmDotsF32_1x2(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), DX
	LEAQ   (DX)(CX*4), CX
	MOVQ   n+40(FP), BX
	XORQ   SI, SI
	SHRQ   $0x03, BX
	JZ     tail

loop:
	VMOVUPS     (DX)(SI*1), Y2
	VMOVUPS     (CX)(SI*1), Y3
	VMOVUPS     (AX)(SI*1), Y4
	VFMADD231PS Y2, Y4, Y0
	VFMADD231PS Y3, Y4, Y1
	ADDQ        $0x20, SI
	DECQ        BX
	JNZ         loop

tail:
	MOVQ        n+40(FP), BX
	ANDQ        $0x07, BX
	MOVQ        BX, DI
	NEGQ        DI
	LEAQ        avx2Masks<>+0(SB), R8
	VMOVUPS     32(R8)(DI*4), Y2
	TESTQ       BX, BX
	JZ          reduce
	VMASKMOVPS  (AX)(SI*1), Y2, Y3
	VMASKMOVPS  (DX)(SI*1), Y2, Y4
	VFMADD231PS Y4, Y3, Y0
	VMASKMOVPS  (CX)(SI*1), Y2, Y2
	VFMADD231PS Y2, Y3, Y1

reduce:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X2
	VADDPS       X2, X0, X2
	VMOVHLPS     X2, X2, X0
	VADDPS       X0, X2, X2
	VMOVSHDUP    X2, X0
	VADDSS       X0, X2, X2
	VMOVSS       X2, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y1, X0
	VADDPS       X0, X1, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF32_4x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, FMA3
TEXT ·asmDotsF32_4x3(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), DI
	LEAQ   (DI)(SI*4), R8
	LEAQ   (R8)(SI*4), SI
	MOVQ   n+40(FP), R9
	XORQ   R10, R10
	SHRQ   $0x03, R9
	JZ     tail

loop:
	VMOVUPS     (DI)(R10*1), Y12
	VMOVUPS     (R8)(R10*1), Y13
	VMOVUPS     (SI)(R10*1), Y14
	VMOVUPS     (CX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y0
	VFMADD231PS Y13, Y15, Y1
	VFMADD231PS Y14, Y15, Y2
	VMOVUPS     (DX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y3
	VFMADD231PS Y13, Y15, Y4
	VFMADD231PS Y14, Y15, Y5
	VMOVUPS     (BX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y6
	VFMADD231PS Y13, Y15, Y7
	VFMADD231PS Y14, Y15, Y8
	VMOVUPS     (AX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y9
	VFMADD231PS Y13, Y15, Y10
	VFMADD231PS Y14, Y15, Y11
	ADDQ        $0x20, R10
	DECQ        R9
	JNZ         loop

tail:
	MOVQ        n+40(FP), R9
	ANDQ        $0x07, R9
	MOVQ        R9, R11
	NEGQ        R11
	LEAQ        avx2Masks<>+0(SB), R12
	VMOVUPS     32(R12)(R11*4), Y12
	TESTQ       R9, R9
	JZ          reduce
	VMASKMOVPS  (CX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y0
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y1
	VMASKMOVPS  (SI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y2
	VMASKMOVPS  (DX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y3
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y4
	VMASKMOVPS  (SI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y5
	VMASKMOVPS  (BX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y6
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y7
	VMASKMOVPS  (SI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y8
	VMASKMOVPS  (AX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y9
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y10
	VMASKMOVPS  (SI)(R10*1), Y12, Y12
	VFMADD231PS Y12, Y13, Y11

reduce:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y3, Y0, Y12
	VPERM2F128   $0x31, Y3, Y0, Y0
	VADDPS       Y0, Y12, Y0
	VPERM2F128   $0x20, Y9, Y6, Y3
	VPERM2F128   $0x31, Y9, Y6, Y6
	VADDPS       Y6, Y3, Y6
	VUNPCKLPS    Y6, Y0, Y3
	VUNPCKHPS    Y6, Y0, Y0
	VADDPS       Y0, Y3, Y0
	VPERMILPD    $0x05, Y0, Y3
	VADDPS       Y3, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X3
	VUNPCKLPS    X3, X0, X3
	VMOVUPS      X3, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y4, Y1, Y0
	VPERM2F128   $0x31, Y4, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERM2F128   $0x20, Y10, Y7, Y0
	VPERM2F128   $0x31, Y10, Y7, Y7
	VADDPS       Y7, Y0, Y7
	VUNPCKLPS    Y7, Y1, Y0
	VUNPCKHPS    Y7, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERMILPD    $0x05, Y1, Y0
	VADDPS       Y0, Y1, Y1
	VEXTRACTF128 $0x01, Y1, X0
	VUNPCKLPS    X0, X1, X0
	VMOVUPS      X0, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y5, Y2, Y0
	VPERM2F128   $0x31, Y5, Y2, Y2
	VADDPS       Y2, Y0, Y2
	VPERM2F128   $0x20, Y11, Y8, Y0
	VPERM2F128   $0x31, Y11, Y8, Y8
	VADDPS       Y8, Y0, Y8
	VUNPCKLPS    Y8, Y2, Y0
	VUNPCKHPS    Y8, Y2, Y2
	VADDPS       Y2, Y0, Y2
	VPERMILPD    $0x05, Y2, Y0
	VADDPS       Y0, Y2, Y2
	VEXTRACTF128 $0x01, Y2, X0
	VUNPCKLPS    X0, X2, X0
	VMOVUPS      X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF32_1x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, FMA3
TEXT ·asmDotsF32_1x3(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), DX
	LEAQ   (DX)(CX*4), BX
	LEAQ   (BX)(CX*4), CX
	MOVQ   n+40(FP), SI
	XORQ   DI, DI
	SHRQ   $0x03, SI
	JZ     tail

loop:
	VMOVUPS     (DX)(DI*1), Y3
	VMOVUPS     (BX)(DI*1), Y4
	VMOVUPS     (CX)(DI*1), Y5
	VMOVUPS     (AX)(DI*1), Y6
	VFMADD231PS Y3, Y6, Y0
	VFMADD231PS Y4, Y6, Y1
	VFMADD231PS Y5, Y6, Y2
	ADDQ        $0x20, DI
	DECQ        SI
	JNZ         loop

tail:
	MOVQ        n+40(FP), SI
	ANDQ        $0x07, SI
	MOVQ        SI, R8
	NEGQ        R8
	LEAQ        avx2Masks<>+0(SB), R9
	VMOVUPS     32(R9)(R8*4), Y3
	TESTQ       SI, SI
	JZ          reduce
	VMASKMOVPS  (AX)(DI*1), Y3, Y4
	VMASKMOVPS  (DX)(DI*1), Y3, Y5
	VFMADD231PS Y5, Y4, Y0
	VMASKMOVPS  (BX)(DI*1), Y3, Y5
	VFMADD231PS Y5, Y4, Y1
	VMASKMOVPS  (CX)(DI*1), Y3, Y3
	VFMADD231PS Y3, Y4, Y2

reduce:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X3
	VADDPS       X3, X0, X3
	VMOVHLPS     X3, X3, X0
	VADDPS       X0, X3, X3
	VMOVSHDUP    X3, X0
	VADDSS       X0, X3, X3
	VMOVSS       X3, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y1, X0
	VADDPS       X0, X1, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y2, X0
	VADDPS       X0, X2, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF16_4x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, F16C, FMA3, MMX+
TEXT ·asmDotsF16_4x1(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), SI
	MOVQ   rowBytes+24(FP), DI
	SHLQ   $0x02, DI
	MOVQ   n+40(FP), R8
	XORQ   R9, R9
	SHRQ   $0x03, R8
	JZ     tail

loop:
	VMOVUPS     (SI)(R9*1), Y4
	PREFETCHT0  (CX)(DI*1)
	VCVTPH2PS   (CX), Y5
	VFMADD231PS Y4, Y5, Y0
	PREFETCHT0  (DX)(DI*1)
	VCVTPH2PS   (DX), Y5
	VFMADD231PS Y4, Y5, Y1
	PREFETCHT0  (BX)(DI*1)
	VCVTPH2PS   (BX), Y5
	VFMADD231PS Y4, Y5, Y2
	PREFETCHT0  (AX)(DI*1)
	VCVTPH2PS   (AX), Y5
	VFMADD231PS Y4, Y5, Y3
	ADDQ        $0x10, CX
	ADDQ        $0x10, DX
	ADDQ        $0x10, BX
	ADDQ        $0x10, AX
	ADDQ        $0x20, R9
	DECQ        R8
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y1, Y0, Y4
	VPERM2F128   $0x31, Y1, Y0, Y0
	VADDPS       Y0, Y4, Y0
	VPERM2F128   $0x20, Y3, Y2, Y1
	VPERM2F128   $0x31, Y3, Y2, Y2
	VADDPS       Y2, Y1, Y2
	VUNPCKLPS    Y2, Y0, Y1
	VUNPCKHPS    Y2, Y0, Y0
	VADDPS       Y0, Y1, Y0
	VPERMILPD    $0x05, Y0, Y1
	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X1
	VUNPCKLPS    X1, X0, X1
	VMOVUPS      X1, (AX)
	VZEROUPPER
	RET

// func asmDotsF16_1x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmDotsF16_1x1(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), CX
	MOVQ   n+40(FP), DX
	XORQ   BX, BX
	SHRQ   $0x03, DX
	JZ     tail

loop:
	VMOVUPS     (CX)(BX*1), Y1
	VCVTPH2PS   (AX), Y2
	VFMADD231PS Y1, Y2, Y0
	ADDQ        $0x10, AX
	ADDQ        $0x20, BX
	DECQ        DX
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X1
	VADDPS       X1, X0, X1
	VMOVHLPS     X1, X1, X0
	VADDPS       X0, X1, X1
	VMOVSHDUP    X1, X0
	VADDSS       X0, X1, X1
	VMOVSS       X1, (AX)
	VZEROUPPER
	RET

// func asmDotsF16_4x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, F16C, FMA3, MMX+
TEXT ·asmDotsF16_4x2(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), DI
	LEAQ   (DI)(SI*4), SI
	MOVQ   rowBytes+24(FP), R8
	SHLQ   $0x02, R8
	MOVQ   n+40(FP), R9
	XORQ   R10, R10
	SHRQ   $0x03, R9
	JZ     tail

loop:
	VMOVUPS     (DI)(R10*1), Y8
	VMOVUPS     (SI)(R10*1), Y9
	PREFETCHT0  (CX)(R8*1)
	VCVTPH2PS   (CX), Y10
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	PREFETCHT0  (DX)(R8*1)
	VCVTPH2PS   (DX), Y10
	VFMADD231PS Y8, Y10, Y2
	VFMADD231PS Y9, Y10, Y3
	PREFETCHT0  (BX)(R8*1)
	VCVTPH2PS   (BX), Y10
	VFMADD231PS Y8, Y10, Y4
	VFMADD231PS Y9, Y10, Y5
	PREFETCHT0  (AX)(R8*1)
	VCVTPH2PS   (AX), Y10
	VFMADD231PS Y8, Y10, Y6
	VFMADD231PS Y9, Y10, Y7
	ADDQ        $0x10, CX
	ADDQ        $0x10, DX
	ADDQ        $0x10, BX
	ADDQ        $0x10, AX
	ADDQ        $0x20, R10
	DECQ        R9
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y2, Y0, Y8
	VPERM2F128   $0x31, Y2, Y0, Y0
	VADDPS       Y0, Y8, Y0
	VPERM2F128   $0x20, Y6, Y4, Y2
	VPERM2F128   $0x31, Y6, Y4, Y4
	VADDPS       Y4, Y2, Y4
	VUNPCKLPS    Y4, Y0, Y2
	VUNPCKHPS    Y4, Y0, Y0
	VADDPS       Y0, Y2, Y0
	VPERMILPD    $0x05, Y0, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X2
	VUNPCKLPS    X2, X0, X2
	VMOVUPS      X2, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y3, Y1, Y0
	VPERM2F128   $0x31, Y3, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERM2F128   $0x20, Y7, Y5, Y0
	VPERM2F128   $0x31, Y7, Y5, Y5
	VADDPS       Y5, Y0, Y5
	VUNPCKLPS    Y5, Y1, Y0
	VUNPCKHPS    Y5, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERMILPD    $0x05, Y1, Y0
	VADDPS       Y0, Y1, Y1
	VEXTRACTF128 $0x01, Y1, X0
	VUNPCKLPS    X0, X1, X0
	VMOVUPS      X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF16_1x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmDotsF16_1x2(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), DX
	LEAQ   (DX)(CX*4), CX
	MOVQ   n+40(FP), BX
	XORQ   SI, SI
	SHRQ   $0x03, BX
	JZ     tail

loop:
	VMOVUPS     (DX)(SI*1), Y2
	VMOVUPS     (CX)(SI*1), Y3
	VCVTPH2PS   (AX), Y4
	VFMADD231PS Y2, Y4, Y0
	VFMADD231PS Y3, Y4, Y1
	ADDQ        $0x10, AX
	ADDQ        $0x20, SI
	DECQ        BX
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X2
	VADDPS       X2, X0, X2
	VMOVHLPS     X2, X2, X0
	VADDPS       X0, X2, X2
	VMOVSHDUP    X2, X0
	VADDSS       X0, X2, X2
	VMOVSS       X2, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y1, X0
	VADDPS       X0, X1, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF16_4x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, F16C, FMA3, MMX+
TEXT ·asmDotsF16_4x3(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), DI
	LEAQ   (DI)(SI*4), R8
	LEAQ   (R8)(SI*4), SI
	MOVQ   rowBytes+24(FP), R9
	SHLQ   $0x02, R9
	MOVQ   n+40(FP), R10
	XORQ   R11, R11
	SHRQ   $0x03, R10
	JZ     tail

loop:
	VMOVUPS     (DI)(R11*1), Y12
	VMOVUPS     (R8)(R11*1), Y13
	VMOVUPS     (SI)(R11*1), Y14
	PREFETCHT0  (CX)(R9*1)
	VCVTPH2PS   (CX), Y15
	VFMADD231PS Y12, Y15, Y0
	VFMADD231PS Y13, Y15, Y1
	VFMADD231PS Y14, Y15, Y2
	PREFETCHT0  (DX)(R9*1)
	VCVTPH2PS   (DX), Y15
	VFMADD231PS Y12, Y15, Y3
	VFMADD231PS Y13, Y15, Y4
	VFMADD231PS Y14, Y15, Y5
	PREFETCHT0  (BX)(R9*1)
	VCVTPH2PS   (BX), Y15
	VFMADD231PS Y12, Y15, Y6
	VFMADD231PS Y13, Y15, Y7
	VFMADD231PS Y14, Y15, Y8
	PREFETCHT0  (AX)(R9*1)
	VCVTPH2PS   (AX), Y15
	VFMADD231PS Y12, Y15, Y9
	VFMADD231PS Y13, Y15, Y10
	VFMADD231PS Y14, Y15, Y11
	ADDQ        $0x10, CX
	ADDQ        $0x10, DX
	ADDQ        $0x10, BX
	ADDQ        $0x10, AX
	ADDQ        $0x20, R11
	DECQ        R10
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y3, Y0, Y12
	VPERM2F128   $0x31, Y3, Y0, Y0
	VADDPS       Y0, Y12, Y0
	VPERM2F128   $0x20, Y9, Y6, Y3
	VPERM2F128   $0x31, Y9, Y6, Y6
	VADDPS       Y6, Y3, Y6
	VUNPCKLPS    Y6, Y0, Y3
	VUNPCKHPS    Y6, Y0, Y0
	VADDPS       Y0, Y3, Y0
	VPERMILPD    $0x05, Y0, Y3
	VADDPS       Y3, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X3
	VUNPCKLPS    X3, X0, X3
	VMOVUPS      X3, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y4, Y1, Y0
	VPERM2F128   $0x31, Y4, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERM2F128   $0x20, Y10, Y7, Y0
	VPERM2F128   $0x31, Y10, Y7, Y7
	VADDPS       Y7, Y0, Y7
	VUNPCKLPS    Y7, Y1, Y0
	VUNPCKHPS    Y7, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERMILPD    $0x05, Y1, Y0
	VADDPS       Y0, Y1, Y1
	VEXTRACTF128 $0x01, Y1, X0
	VUNPCKLPS    X0, X1, X0
	VMOVUPS      X0, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y5, Y2, Y0
	VPERM2F128   $0x31, Y5, Y2, Y2
	VADDPS       Y2, Y0, Y2
	VPERM2F128   $0x20, Y11, Y8, Y0
	VPERM2F128   $0x31, Y11, Y8, Y8
	VADDPS       Y8, Y0, Y8
	VUNPCKLPS    Y8, Y2, Y0
	VUNPCKHPS    Y8, Y2, Y2
	VADDPS       Y2, Y0, Y2
	VPERMILPD    $0x05, Y2, Y0
	VADDPS       Y0, Y2, Y2
	VEXTRACTF128 $0x01, Y2, X0
	VUNPCKLPS    X0, X2, X0
	VMOVUPS      X0, (AX)
	VZEROUPPER
	RET

// func asmDotsF16_1x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmDotsF16_1x3(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), DX
	LEAQ   (DX)(CX*4), BX
	LEAQ   (BX)(CX*4), CX
	MOVQ   n+40(FP), SI
	XORQ   DI, DI
	SHRQ   $0x03, SI
	JZ     tail

loop:
	VMOVUPS     (DX)(DI*1), Y3
	VMOVUPS     (BX)(DI*1), Y4
	VMOVUPS     (CX)(DI*1), Y5
	VCVTPH2PS   (AX), Y6
	VFMADD231PS Y3, Y6, Y0
	VFMADD231PS Y4, Y6, Y1
	VFMADD231PS Y5, Y6, Y2
	ADDQ        $0x10, AX
	ADDQ        $0x20, DI
	DECQ        SI
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X3
	VADDPS       X3, X0, X3
	VMOVHLPS     X3, X3, X0
	VADDPS       X0, X3, X3
	VMOVSHDUP    X3, X0
	VADDSS       X0, X3, X3
	VMOVSS       X3, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y1, X0
	VADDPS       X0, X1, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y2, X0
	VADDPS       X0, X2, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	VZEROUPPER
	RET

// func asmDecodeF16(dst *float32, src *byte, blocks int)
// Requires: AVX, F16C
TEXT ·asmDecodeF16(SB), NOSPLIT, $0-24
	MOVQ  dst+0(FP), AX
	MOVQ  src+8(FP), CX
	MOVQ  blocks+16(FP), DX
	TESTQ DX, DX
	JZ    done

loop:
	VCVTPH2PS (CX), Y0
	VMOVUPS   Y0, (AX)
	ADDQ      $0x10, CX
	ADDQ      $0x20, AX
	DECQ      DX
	JNZ       loop

done:
	VZEROUPPER
	RET

// func asmDotsBF16_4x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, AVX2, FMA3, MMX+
TEXT ·asmDotsBF16_4x1(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), SI
	MOVQ   rowBytes+24(FP), DI
	SHLQ   $0x02, DI
	MOVQ   n+40(FP), R8
	XORQ   R9, R9
	SHRQ   $0x03, R8
	JZ     tail

loop:
	VMOVUPS     (SI)(R9*1), Y4
	PREFETCHT0  (CX)(DI*1)
	VPMOVZXWD   (CX), Y5
	VPSLLD      $0x10, Y5, Y5
	VFMADD231PS Y4, Y5, Y0
	PREFETCHT0  (DX)(DI*1)
	VPMOVZXWD   (DX), Y5
	VPSLLD      $0x10, Y5, Y5
	VFMADD231PS Y4, Y5, Y1
	PREFETCHT0  (BX)(DI*1)
	VPMOVZXWD   (BX), Y5
	VPSLLD      $0x10, Y5, Y5
	VFMADD231PS Y4, Y5, Y2
	PREFETCHT0  (AX)(DI*1)
	VPMOVZXWD   (AX), Y5
	VPSLLD      $0x10, Y5, Y5
	VFMADD231PS Y4, Y5, Y3
	ADDQ        $0x10, CX
	ADDQ        $0x10, DX
	ADDQ        $0x10, BX
	ADDQ        $0x10, AX
	ADDQ        $0x20, R9
	DECQ        R8
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y1, Y0, Y4
	VPERM2F128   $0x31, Y1, Y0, Y0
	VADDPS       Y0, Y4, Y0
	VPERM2F128   $0x20, Y3, Y2, Y1
	VPERM2F128   $0x31, Y3, Y2, Y2
	VADDPS       Y2, Y1, Y2
	VUNPCKLPS    Y2, Y0, Y1
	VUNPCKHPS    Y2, Y0, Y0
	VADDPS       Y0, Y1, Y0
	VPERMILPD    $0x05, Y0, Y1
	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X1
	VUNPCKLPS    X1, X0, X1
	VMOVUPS      X1, (AX)
	VZEROUPPER
	RET

// func asmDotsBF16_1x1(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, AVX2, FMA3
TEXT ·asmDotsBF16_1x1(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), CX
	MOVQ   n+40(FP), DX
	XORQ   BX, BX
	SHRQ   $0x03, DX
	JZ     tail

loop:
	VMOVUPS     (CX)(BX*1), Y1
	VPMOVZXWD   (AX), Y2
	VPSLLD      $0x10, Y2, Y2
	VFMADD231PS Y1, Y2, Y0
	ADDQ        $0x10, AX
	ADDQ        $0x20, BX
	DECQ        DX
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X1
	VADDPS       X1, X0, X1
	VMOVHLPS     X1, X1, X0
	VADDPS       X0, X1, X1
	VMOVSHDUP    X1, X0
	VADDSS       X0, X1, X1
	VMOVSS       X1, (AX)
	VZEROUPPER
	RET

// func asmDotsBF16_4x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, AVX2, FMA3, MMX+
TEXT ·asmDotsBF16_4x2(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), DI
	LEAQ   (DI)(SI*4), SI
	MOVQ   rowBytes+24(FP), R8
	SHLQ   $0x02, R8
	MOVQ   n+40(FP), R9
	XORQ   R10, R10
	SHRQ   $0x03, R9
	JZ     tail

loop:
	VMOVUPS     (DI)(R10*1), Y8
	VMOVUPS     (SI)(R10*1), Y9
	PREFETCHT0  (CX)(R8*1)
	VPMOVZXWD   (CX), Y10
	VPSLLD      $0x10, Y10, Y10
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	PREFETCHT0  (DX)(R8*1)
	VPMOVZXWD   (DX), Y10
	VPSLLD      $0x10, Y10, Y10
	VFMADD231PS Y8, Y10, Y2
	VFMADD231PS Y9, Y10, Y3
	PREFETCHT0  (BX)(R8*1)
	VPMOVZXWD   (BX), Y10
	VPSLLD      $0x10, Y10, Y10
	VFMADD231PS Y8, Y10, Y4
	VFMADD231PS Y9, Y10, Y5
	PREFETCHT0  (AX)(R8*1)
	VPMOVZXWD   (AX), Y10
	VPSLLD      $0x10, Y10, Y10
	VFMADD231PS Y8, Y10, Y6
	VFMADD231PS Y9, Y10, Y7
	ADDQ        $0x10, CX
	ADDQ        $0x10, DX
	ADDQ        $0x10, BX
	ADDQ        $0x10, AX
	ADDQ        $0x20, R10
	DECQ        R9
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y2, Y0, Y8
	VPERM2F128   $0x31, Y2, Y0, Y0
	VADDPS       Y0, Y8, Y0
	VPERM2F128   $0x20, Y6, Y4, Y2
	VPERM2F128   $0x31, Y6, Y4, Y4
	VADDPS       Y4, Y2, Y4
	VUNPCKLPS    Y4, Y0, Y2
	VUNPCKHPS    Y4, Y0, Y0
	VADDPS       Y0, Y2, Y0
	VPERMILPD    $0x05, Y0, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X2
	VUNPCKLPS    X2, X0, X2
	VMOVUPS      X2, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y3, Y1, Y0
	VPERM2F128   $0x31, Y3, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERM2F128   $0x20, Y7, Y5, Y0
	VPERM2F128   $0x31, Y7, Y5, Y5
	VADDPS       Y5, Y0, Y5
	VUNPCKLPS    Y5, Y1, Y0
	VUNPCKHPS    Y5, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERMILPD    $0x05, Y1, Y0
	VADDPS       Y0, Y1, Y1
	VEXTRACTF128 $0x01, Y1, X0
	VUNPCKLPS    X0, X1, X0
	VMOVUPS      X0, (AX)
	VZEROUPPER
	RET

// func asmDotsBF16_1x2(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, AVX2, FMA3
TEXT ·asmDotsBF16_1x2(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), DX
	LEAQ   (DX)(CX*4), CX
	MOVQ   n+40(FP), BX
	XORQ   SI, SI
	SHRQ   $0x03, BX
	JZ     tail

loop:
	VMOVUPS     (DX)(SI*1), Y2
	VMOVUPS     (CX)(SI*1), Y3
	VPMOVZXWD   (AX), Y4
	VPSLLD      $0x10, Y4, Y4
	VFMADD231PS Y2, Y4, Y0
	VFMADD231PS Y3, Y4, Y1
	ADDQ        $0x10, AX
	ADDQ        $0x20, SI
	DECQ        BX
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X2
	VADDPS       X2, X0, X2
	VMOVHLPS     X2, X2, X0
	VADDPS       X0, X2, X2
	VMOVSHDUP    X2, X0
	VADDSS       X0, X2, X2
	VMOVSS       X2, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y1, X0
	VADDPS       X0, X1, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	VZEROUPPER
	RET

// func asmDotsBF16_4x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, AVX2, FMA3, MMX+
TEXT ·asmDotsBF16_4x3(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), CX
	LEAQ   (CX)(AX*1), DX
	LEAQ   (DX)(AX*1), BX
	LEAQ   (BX)(AX*1), AX
	MOVQ   n+40(FP), SI
	MOVQ   x+32(FP), DI
	LEAQ   (DI)(SI*4), R8
	LEAQ   (R8)(SI*4), SI
	MOVQ   rowBytes+24(FP), R9
	SHLQ   $0x02, R9
	MOVQ   n+40(FP), R10
	XORQ   R11, R11
	SHRQ   $0x03, R10
	JZ     tail

loop:
	VMOVUPS     (DI)(R11*1), Y12
	VMOVUPS     (R8)(R11*1), Y13
	VMOVUPS     (SI)(R11*1), Y14
	PREFETCHT0  (CX)(R9*1)
	VPMOVZXWD   (CX), Y15
	VPSLLD      $0x10, Y15, Y15
	VFMADD231PS Y12, Y15, Y0
	VFMADD231PS Y13, Y15, Y1
	VFMADD231PS Y14, Y15, Y2
	PREFETCHT0  (DX)(R9*1)
	VPMOVZXWD   (DX), Y15
	VPSLLD      $0x10, Y15, Y15
	VFMADD231PS Y12, Y15, Y3
	VFMADD231PS Y13, Y15, Y4
	VFMADD231PS Y14, Y15, Y5
	PREFETCHT0  (BX)(R9*1)
	VPMOVZXWD   (BX), Y15
	VPSLLD      $0x10, Y15, Y15
	VFMADD231PS Y12, Y15, Y6
	VFMADD231PS Y13, Y15, Y7
	VFMADD231PS Y14, Y15, Y8
	PREFETCHT0  (AX)(R9*1)
	VPMOVZXWD   (AX), Y15
	VPSLLD      $0x10, Y15, Y15
	VFMADD231PS Y12, Y15, Y9
	VFMADD231PS Y13, Y15, Y10
	VFMADD231PS Y14, Y15, Y11
	ADDQ        $0x10, CX
	ADDQ        $0x10, DX
	ADDQ        $0x10, BX
	ADDQ        $0x10, AX
	ADDQ        $0x20, R11
	DECQ        R10
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VPERM2F128   $0x20, Y3, Y0, Y12
	VPERM2F128   $0x31, Y3, Y0, Y0
	VADDPS       Y0, Y12, Y0
	VPERM2F128   $0x20, Y9, Y6, Y3
	VPERM2F128   $0x31, Y9, Y6, Y6
	VADDPS       Y6, Y3, Y6
	VUNPCKLPS    Y6, Y0, Y3
	VUNPCKHPS    Y6, Y0, Y0
	VADDPS       Y0, Y3, Y0
	VPERMILPD    $0x05, Y0, Y3
	VADDPS       Y3, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X3
	VUNPCKLPS    X3, X0, X3
	VMOVUPS      X3, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y4, Y1, Y0
	VPERM2F128   $0x31, Y4, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERM2F128   $0x20, Y10, Y7, Y0
	VPERM2F128   $0x31, Y10, Y7, Y7
	VADDPS       Y7, Y0, Y7
	VUNPCKLPS    Y7, Y1, Y0
	VUNPCKHPS    Y7, Y1, Y1
	VADDPS       Y1, Y0, Y1
	VPERMILPD    $0x05, Y1, Y0
	VADDPS       Y0, Y1, Y1
	VEXTRACTF128 $0x01, Y1, X0
	VUNPCKLPS    X0, X1, X0
	VMOVUPS      X0, (AX)
	ADDQ         CX, AX
	VPERM2F128   $0x20, Y5, Y2, Y0
	VPERM2F128   $0x31, Y5, Y2, Y2
	VADDPS       Y2, Y0, Y2
	VPERM2F128   $0x20, Y11, Y8, Y0
	VPERM2F128   $0x31, Y11, Y8, Y8
	VADDPS       Y8, Y0, Y8
	VUNPCKLPS    Y8, Y2, Y0
	VUNPCKHPS    Y8, Y2, Y2
	VADDPS       Y2, Y0, Y2
	VPERMILPD    $0x05, Y2, Y0
	VADDPS       Y0, Y2, Y2
	VEXTRACTF128 $0x01, Y2, X0
	VUNPCKLPS    X0, X2, X0
	VMOVUPS      X0, (AX)
	VZEROUPPER
	RET

// func asmDotsBF16_1x3(out *float32, stride int, w *byte, rowBytes int, x *float32, n int)
// Requires: AVX, AVX2, FMA3
TEXT ·asmDotsBF16_1x3(SB), NOSPLIT, $0-48
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	MOVQ   rowBytes+24(FP), AX
	MOVQ   w+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   x+32(FP), DX
	LEAQ   (DX)(CX*4), BX
	LEAQ   (BX)(CX*4), CX
	MOVQ   n+40(FP), SI
	XORQ   DI, DI
	SHRQ   $0x03, SI
	JZ     tail

loop:
	VMOVUPS     (DX)(DI*1), Y3
	VMOVUPS     (BX)(DI*1), Y4
	VMOVUPS     (CX)(DI*1), Y5
	VPMOVZXWD   (AX), Y6
	VPSLLD      $0x10, Y6, Y6
	VFMADD231PS Y3, Y6, Y0
	VFMADD231PS Y4, Y6, Y1
	VFMADD231PS Y5, Y6, Y2
	ADDQ        $0x10, AX
	ADDQ        $0x20, DI
	DECQ        SI
	JNZ         loop

tail:
	MOVQ         out+0(FP), AX
	MOVQ         stride+8(FP), CX
	SHLQ         $0x02, CX
	VEXTRACTF128 $0x01, Y0, X3
	VADDPS       X3, X0, X3
	VMOVHLPS     X3, X3, X0
	VADDPS       X0, X3, X3
	VMOVSHDUP    X3, X0
	VADDSS       X0, X3, X3
	VMOVSS       X3, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y1, X0
	VADDPS       X0, X1, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	ADDQ         CX, AX
	VEXTRACTF128 $0x01, Y2, X0
	VADDPS       X0, X2, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (AX)
	VZEROUPPER
	RET

// func asmDecodeBF16(dst *float32, src *byte, blocks int)
// Requires: AVX, AVX2
TEXT ·asmDecodeBF16(SB), NOSPLIT, $0-24
	MOVQ  dst+0(FP), AX
	MOVQ  src+8(FP), CX
	MOVQ  blocks+16(FP), DX
	TESTQ DX, DX
	JZ    done

loop:
	VPMOVZXWD (CX), Y0
	VPSLLD    $0x10, Y0, Y0
	VMOVUPS   Y0, (AX)
	ADDQ      $0x10, CX
	ADDQ      $0x20, AX
	DECQ      DX
	JNZ       loop

done:
	VZEROUPPER
	RET

// func asmAddDots_1x1(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmAddDots_1x1(SB), NOSPLIT, $0-48
	MOVQ    acc+0(FP), AX
	VMOVUPS (AX), Y0
	MOVQ    wStride+16(FP), AX
	MOVQ    w+8(FP), AX
	MOVQ    xStride+32(FP), CX
	MOVQ    x+24(FP), CX
	MOVQ    n+40(FP), DX
	XORQ    BX, BX
	SHRQ    $0x03, DX
	JZ      tail

loop:
	VMOVUPS     (CX)(BX*1), Y1
	VMOVUPS     (AX)(BX*1), Y2
	VFMADD231PS Y1, Y2, Y0
	ADDQ        $0x20, BX
	DECQ        DX
	JNZ         loop

tail:
	MOVQ        n+40(FP), DX
	ANDQ        $0x07, DX
	MOVQ        DX, SI
	NEGQ        SI
	LEAQ        avx2Masks<>+0(SB), DI
	VMOVUPS     32(DI)(SI*4), Y1
	TESTQ       DX, DX
	JZ          reduce
	VMASKMOVPS  (AX)(BX*1), Y1, Y2
	VMASKMOVPS  (CX)(BX*1), Y1, Y1
	VFMADD231PS Y1, Y2, Y0

reduce:
	MOVQ    acc+0(FP), AX
	VMOVUPS Y0, (AX)
	VZEROUPPER
	RET

// func asmAddDots_1x2(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmAddDots_1x2(SB), NOSPLIT, $0-48
	MOVQ    acc+0(FP), AX
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	MOVQ    wStride+16(FP), AX
	MOVQ    w+8(FP), AX
	MOVQ    xStride+32(FP), CX
	MOVQ    x+24(FP), DX
	LEAQ    (DX)(CX*4), CX
	MOVQ    n+40(FP), BX
	XORQ    SI, SI
	SHRQ    $0x03, BX
	JZ      tail

loop:
	VMOVUPS     (DX)(SI*1), Y2
	VMOVUPS     (CX)(SI*1), Y3
	VMOVUPS     (AX)(SI*1), Y4
	VFMADD231PS Y2, Y4, Y0
	VFMADD231PS Y3, Y4, Y1
	ADDQ        $0x20, SI
	DECQ        BX
	JNZ         loop

tail:
	MOVQ        n+40(FP), BX
	ANDQ        $0x07, BX
	MOVQ        BX, DI
	NEGQ        DI
	LEAQ        avx2Masks<>+0(SB), R8
	VMOVUPS     32(R8)(DI*4), Y2
	TESTQ       BX, BX
	JZ          reduce
	VMASKMOVPS  (AX)(SI*1), Y2, Y3
	VMASKMOVPS  (DX)(SI*1), Y2, Y4
	VFMADD231PS Y4, Y3, Y0
	VMASKMOVPS  (CX)(SI*1), Y2, Y2
	VFMADD231PS Y2, Y3, Y1

reduce:
	MOVQ    acc+0(FP), AX
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VZEROUPPER
	RET

// func asmAddDots_1x3(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmAddDots_1x3(SB), NOSPLIT, $0-48
	MOVQ    acc+0(FP), AX
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	VMOVUPS 64(AX), Y2
	MOVQ    wStride+16(FP), AX
	MOVQ    w+8(FP), AX
	MOVQ    xStride+32(FP), CX
	MOVQ    x+24(FP), DX
	LEAQ    (DX)(CX*4), BX
	LEAQ    (BX)(CX*4), CX
	MOVQ    n+40(FP), SI
	XORQ    DI, DI
	SHRQ    $0x03, SI
	JZ      tail

loop:
	VMOVUPS     (DX)(DI*1), Y3
	VMOVUPS     (BX)(DI*1), Y4
	VMOVUPS     (CX)(DI*1), Y5
	VMOVUPS     (AX)(DI*1), Y6
	VFMADD231PS Y3, Y6, Y0
	VFMADD231PS Y4, Y6, Y1
	VFMADD231PS Y5, Y6, Y2
	ADDQ        $0x20, DI
	DECQ        SI
	JNZ         loop

tail:
	MOVQ        n+40(FP), SI
	ANDQ        $0x07, SI
	MOVQ        SI, R8
	NEGQ        R8
	LEAQ        avx2Masks<>+0(SB), R9
	VMOVUPS     32(R9)(R8*4), Y3
	TESTQ       SI, SI
	JZ          reduce
	VMASKMOVPS  (AX)(DI*1), Y3, Y4
	VMASKMOVPS  (DX)(DI*1), Y3, Y5
	VFMADD231PS Y5, Y4, Y0
	VMASKMOVPS  (BX)(DI*1), Y3, Y5
	VFMADD231PS Y5, Y4, Y1
	VMASKMOVPS  (CX)(DI*1), Y3, Y3
	VFMADD231PS Y3, Y4, Y2

reduce:
	MOVQ    acc+0(FP), AX
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VZEROUPPER
	RET

// func asmSumLanes_1(out *float32, stride int, acc *float32, n int)
// Requires: AVX
TEXT ·asmSumLanes_1(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), AX
	MOVQ stride+8(FP), CX
	MOVQ acc+16(FP), DX
	MOVQ n+24(FP), BX
	SHLQ $0x02, CX

loop:
	VMOVUPS      (DX), Y0
	VEXTRACTF128 $0x01, Y0, X1
	VADDPS       X1, X0, X1
	VMOVHLPS     X1, X1, X0
	VADDPS       X0, X1, X1
	VMOVSHDUP    X1, X0
	VADDSS       X0, X1, X1
	VMOVSS       X1, (AX)
	ADDQ         $0x20, DX
	ADDQ         CX, AX
	DECQ         BX
	JNZ          loop
	VZEROUPPER
	RET

// func asmAddDots_4x1(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmAddDots_4x1(SB), NOSPLIT, $0-48
	MOVQ    acc+0(FP), AX
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	VMOVUPS 64(AX), Y2
	VMOVUPS 96(AX), Y3
	MOVQ    wStride+16(FP), AX
	MOVQ    w+8(FP), CX
	LEAQ    (CX)(AX*4), DX
	LEAQ    (DX)(AX*4), BX
	LEAQ    (BX)(AX*4), AX
	MOVQ    xStride+32(FP), SI
	MOVQ    x+24(FP), SI
	MOVQ    n+40(FP), DI
	XORQ    R8, R8
	SHRQ    $0x03, DI
	JZ      tail

loop:
	VMOVUPS     (SI)(R8*1), Y4
	VMOVUPS     (CX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y0
	VMOVUPS     (DX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y1
	VMOVUPS     (BX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y2
	VMOVUPS     (AX)(R8*1), Y5
	VFMADD231PS Y4, Y5, Y3
	ADDQ        $0x20, R8
	DECQ        DI
	JNZ         loop

tail:
	MOVQ        n+40(FP), DI
	ANDQ        $0x07, DI
	MOVQ        DI, R9
	NEGQ        R9
	LEAQ        avx2Masks<>+0(SB), R10
	VMOVUPS     32(R10)(R9*4), Y4
	TESTQ       DI, DI
	JZ          reduce
	VMASKMOVPS  (CX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y6
	VFMADD231PS Y6, Y5, Y0
	VMASKMOVPS  (DX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y6
	VFMADD231PS Y6, Y5, Y1
	VMASKMOVPS  (BX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y6
	VFMADD231PS Y6, Y5, Y2
	VMASKMOVPS  (AX)(R8*1), Y4, Y5
	VMASKMOVPS  (SI)(R8*1), Y4, Y4
	VFMADD231PS Y4, Y5, Y3

reduce:
	MOVQ    acc+0(FP), AX
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VMOVUPS Y3, 96(AX)
	VZEROUPPER
	RET

// func asmAddDots_4x2(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmAddDots_4x2(SB), NOSPLIT, $0-48
	MOVQ    acc+0(FP), AX
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y2
	VMOVUPS 64(AX), Y4
	VMOVUPS 96(AX), Y6
	VMOVUPS 128(AX), Y1
	VMOVUPS 160(AX), Y3
	VMOVUPS 192(AX), Y5
	VMOVUPS 224(AX), Y7
	MOVQ    wStride+16(FP), AX
	MOVQ    w+8(FP), CX
	LEAQ    (CX)(AX*4), DX
	LEAQ    (DX)(AX*4), BX
	LEAQ    (BX)(AX*4), AX
	MOVQ    xStride+32(FP), SI
	MOVQ    x+24(FP), DI
	LEAQ    (DI)(SI*4), SI
	MOVQ    n+40(FP), R8
	XORQ    R9, R9
	SHRQ    $0x03, R8
	JZ      tail

loop:
	VMOVUPS     (DI)(R9*1), Y8
	VMOVUPS     (SI)(R9*1), Y9
	VMOVUPS     (CX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y0
	VFMADD231PS Y9, Y10, Y1
	VMOVUPS     (DX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y2
	VFMADD231PS Y9, Y10, Y3
	VMOVUPS     (BX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y4
	VFMADD231PS Y9, Y10, Y5
	VMOVUPS     (AX)(R9*1), Y10
	VFMADD231PS Y8, Y10, Y6
	VFMADD231PS Y9, Y10, Y7
	ADDQ        $0x20, R9
	DECQ        R8
	JNZ         loop

tail:
	MOVQ        n+40(FP), R8
	ANDQ        $0x07, R8
	MOVQ        R8, R10
	NEGQ        R10
	LEAQ        avx2Masks<>+0(SB), R11
	VMOVUPS     32(R11)(R10*4), Y8
	TESTQ       R8, R8
	JZ          reduce
	VMASKMOVPS  (CX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y0
	VMASKMOVPS  (SI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y1
	VMASKMOVPS  (DX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y2
	VMASKMOVPS  (SI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y3
	VMASKMOVPS  (BX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y4
	VMASKMOVPS  (SI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y5
	VMASKMOVPS  (AX)(R9*1), Y8, Y9
	VMASKMOVPS  (DI)(R9*1), Y8, Y10
	VFMADD231PS Y10, Y9, Y6
	VMASKMOVPS  (SI)(R9*1), Y8, Y8
	VFMADD231PS Y8, Y9, Y7

reduce:
	MOVQ    acc+0(FP), AX
	VMOVUPS Y0, (AX)
	VMOVUPS Y2, 32(AX)
	VMOVUPS Y4, 64(AX)
	VMOVUPS Y6, 96(AX)
	VMOVUPS Y1, 128(AX)
	VMOVUPS Y3, 160(AX)
	VMOVUPS Y5, 192(AX)
	VMOVUPS Y7, 224(AX)
	VZEROUPPER
	RET

// func asmAddDots_4x3(acc *float32, w *float32, wStride int, x *float32, xStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmAddDots_4x3(SB), NOSPLIT, $0-48
	MOVQ    acc+0(FP), AX
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y3
	VMOVUPS 64(AX), Y6
	VMOVUPS 96(AX), Y9
	VMOVUPS 128(AX), Y1
	VMOVUPS 160(AX), Y4
	VMOVUPS 192(AX), Y7
	VMOVUPS 224(AX), Y10
	VMOVUPS 256(AX), Y2
	VMOVUPS 288(AX), Y5
	VMOVUPS 320(AX), Y8
	VMOVUPS 352(AX), Y11
	MOVQ    wStride+16(FP), AX
	MOVQ    w+8(FP), CX
	LEAQ    (CX)(AX*4), DX
	LEAQ    (DX)(AX*4), BX
	LEAQ    (BX)(AX*4), AX
	MOVQ    xStride+32(FP), SI
	MOVQ    x+24(FP), DI
	LEAQ    (DI)(SI*4), R8
	LEAQ    (R8)(SI*4), SI
	MOVQ    n+40(FP), R9
	XORQ    R10, R10
	SHRQ    $0x03, R9
	JZ      tail

loop:
	VMOVUPS     (DI)(R10*1), Y12
	VMOVUPS     (R8)(R10*1), Y13
	VMOVUPS     (SI)(R10*1), Y14
	VMOVUPS     (CX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y0
	VFMADD231PS Y13, Y15, Y1
	VFMADD231PS Y14, Y15, Y2
	VMOVUPS     (DX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y3
	VFMADD231PS Y13, Y15, Y4
	VFMADD231PS Y14, Y15, Y5
	VMOVUPS     (BX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y6
	VFMADD231PS Y13, Y15, Y7
	VFMADD231PS Y14, Y15, Y8
	VMOVUPS     (AX)(R10*1), Y15
	VFMADD231PS Y12, Y15, Y9
	VFMADD231PS Y13, Y15, Y10
	VFMADD231PS Y14, Y15, Y11
	ADDQ        $0x20, R10
	DECQ        R9
	JNZ         loop

tail:
	MOVQ        n+40(FP), R9
	ANDQ        $0x07, R9
	MOVQ        R9, R11
	NEGQ        R11
	LEAQ        avx2Masks<>+0(SB), R12
	VMOVUPS     32(R12)(R11*4), Y12
	TESTQ       R9, R9
	JZ          reduce
	VMASKMOVPS  (CX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y0
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y1
	VMASKMOVPS  (SI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y2
	VMASKMOVPS  (DX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y3
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y4
	VMASKMOVPS  (SI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y5
	VMASKMOVPS  (BX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y6
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y7
	VMASKMOVPS  (SI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y8
	VMASKMOVPS  (AX)(R10*1), Y12, Y13
	VMASKMOVPS  (DI)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y9
	VMASKMOVPS  (R8)(R10*1), Y12, Y14
	VFMADD231PS Y14, Y13, Y10
	VMASKMOVPS  (SI)(R10*1), Y12, Y12
	VFMADD231PS Y12, Y13, Y11

reduce:
	MOVQ    acc+0(FP), AX
	VMOVUPS Y0, (AX)
	VMOVUPS Y3, 32(AX)
	VMOVUPS Y6, 64(AX)
	VMOVUPS Y9, 96(AX)
	VMOVUPS Y1, 128(AX)
	VMOVUPS Y4, 160(AX)
	VMOVUPS Y7, 192(AX)
	VMOVUPS Y10, 224(AX)
	VMOVUPS Y2, 256(AX)
	VMOVUPS Y5, 288(AX)
	VMOVUPS Y8, 320(AX)
	VMOVUPS Y11, 352(AX)
	VZEROUPPER
	RET

// func asmSumLanes_4(out *float32, stride int, acc *float32, n int)
// Requires: AVX
TEXT ·asmSumLanes_4(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), AX
	MOVQ stride+8(FP), CX
	MOVQ acc+16(FP), DX
	MOVQ n+24(FP), BX
	SHLQ $0x02, CX

loop:
	VMOVUPS      (DX), Y0
	VMOVUPS      32(DX), Y1
	VMOVUPS      64(DX), Y2
	VMOVUPS      96(DX), Y3
	VPERM2F128   $0x20, Y1, Y0, Y4
	VPERM2F128   $0x31, Y1, Y0, Y0
	VADDPS       Y0, Y4, Y0
	VPERM2F128   $0x20, Y3, Y2, Y1
	VPERM2F128   $0x31, Y3, Y2, Y2
	VADDPS       Y2, Y1, Y2
	VUNPCKLPS    Y2, Y0, Y1
	VUNPCKHPS    Y2, Y0, Y0
	VADDPS       Y0, Y1, Y0
	VPERMILPD    $0x05, Y0, Y1
	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $0x01, Y0, X1
	VUNPCKLPS    X1, X0, X1
	VMOVUPS      X1, (AX)
	ADDQ         $0x80, DX
	ADDQ         CX, AX
	DECQ         BX
	JNZ          loop
	VZEROUPPER
	RET

// func asmQuantise(dst *byte, stride int, x *float32, blocks int)
// Requires: AVX, AVX2
TEXT ·asmQuantise(SB), NOSPLIT, $0-32
	MOVQ     dst+0(FP), AX
	MOVQ     stride+8(FP), CX
	MOVQ     x+16(FP), DX
	MOVQ     blocks+24(FP), BX
	VPCMPEQD Y1, Y1, Y1
	VPABSB   Y1, Y0
	VPSRLW   $0x0f, Y1, Y1
	VMOVDQU  avx2PackedOrder<>+0(SB), Y2

loop:
	VMOVUPS      (DX), Y3
	VPAND        avx2Magnitudes<>+0(SB), Y3, Y4
	VMOVUPS      32(DX), Y5
	VPAND        avx2Magnitudes<>+0(SB), Y5, Y6
	VMOVUPS      64(DX), Y7
	VPAND        avx2Magnitudes<>+0(SB), Y7, Y8
	VMOVUPS      96(DX), Y9
	VPAND        avx2Magnitudes<>+0(SB), Y9, Y10
	VPMAXSD      Y6, Y4, Y4
	VPMAXSD      Y10, Y8, Y8
	VPMAXSD      Y8, Y4, Y4
	VEXTRACTI128 $0x01, Y4, X6
	VPMAXSD      X6, X4, X4
	VPSHUFD      $0x4e, X4, X6
	VPMAXSD      X6, X4, X4
	VPSHUFD      $0xb1, X4, X6
	VPMAXSD      X6, X4, X4
	VMOVUPS      avx2Most<>+0(SB), X8
	VDIVPS       X8, X4, X6
	VDIVPS       X4, X8, X8
	VSUBPS       X4, X4, X10
	VADDPS       X10, X6, X6
	VCMPPS       $0x15, avx2Least<>+0(SB), X4, X4
	VPAND        X4, X6, X6
	VPAND        X4, X8, X8
	VBROADCASTSS X8, Y8
	VMULPS       Y8, Y3, Y3
	VCVTPS2DQ    Y3, Y3
	VMULPS       Y8, Y5, Y5
	VCVTPS2DQ    Y5, Y5
	VMULPS       Y8, Y7, Y7
	VCVTPS2DQ    Y7, Y7
	VMULPS       Y8, Y9, Y9
	VCVTPS2DQ    Y9, Y9
	VPACKSSDW    Y5, Y3, Y3
	VPACKSSDW    Y9, Y7, Y7
	VPACKSSWB    Y7, Y3, Y3
	VPERMD       Y3, Y2, Y3
	VMOVDQU      Y3, (AX)
	VPMADDUBSW   Y3, Y0, Y3
	VPMADDWD     Y1, Y3, Y3
	VPSHUFD      $0x4e, Y3, Y4
	VPADDD       Y4, Y3, Y3
	VPSHUFD      $0xb1, Y3, Y4
	VPADDD       Y4, Y3, Y3
	VEXTRACTI128 $0x01, Y3, X4
	VPADDD       X4, X3, X5
	VCVTDQ2PS    X5, X7
	VMULPS       X6, X7, X7
	VPSLLD       $0x10, X4, X4
	VPBLENDW     $0xaa, X4, X3, X3
	VMOVSS       X6, 32(AX)
	VMOVD        X3, 36(AX)
	VMOVD        X5, 40(AX)
	VMOVSS       X7, 44(AX)
	ADDQ         $0x80, DX
	ADDQ         CX, AX
	DECQ         BX
	JNZ          loop
	VZEROUPPER
	RET

// func asmProductQ8_0(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ8_0(SB), NOSPLIT, $288-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), SI
	LEAQ     (CX)(CX*2), DX
	LEAQ     (SI)(CX*4), DI
	LEAQ     8192(SI)(CX*8), R8
	LEAQ     (SP), BX
	ADDQ     $0x1f, BX
	ANDQ     $-32, BX
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	ADDQ           $0x00000110, R8
	VBROADCASTI128 2(SI), Y1
	VINSERTI128    $0x01, 2(DI), Y1, Y1
	VBROADCASTI128 2(SI)(CX*1), Y2
	VINSERTI128    $0x01, 2(DI)(CX*1), Y2, Y2
	VBROADCASTI128 2(SI)(CX*2), Y3
	VINSERTI128    $0x01, 2(DI)(CX*2), Y3, Y3
	VBROADCASTI128 2(SI)(DX*1), Y4
	VINSERTI128    $0x01, 2(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VMOVDQA        Y1, (BX)
	VPABSB         Y1, Y1
	VMOVDQA        Y2, 32(BX)
	VPABSB         Y2, Y2
	VMOVDQA        Y3, 64(BX)
	VPABSB         Y3, Y3
	VMOVDQA        Y4, 96(BX)
	VPABSB         Y4, Y4
	VBROADCASTI128 18(SI), Y5
	VINSERTI128    $0x01, 18(DI), Y5, Y5
	VBROADCASTI128 18(SI)(CX*1), Y6
	VINSERTI128    $0x01, 18(DI)(CX*1), Y6, Y6
	VBROADCASTI128 18(SI)(CX*2), Y7
	VINSERTI128    $0x01, 18(DI)(CX*2), Y7, Y7
	VBROADCASTI128 18(SI)(DX*1), Y8
	VINSERTI128    $0x01, 18(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y5, 128(BX)
	VPABSB         Y5, Y5
	VMOVDQA        Y6, 160(BX)
	VPABSB         Y6, Y6
	VMOVDQA        Y7, 192(BX)
	VPABSB         Y7, Y7
	VMOVDQA        Y8, 224(BX)
	VPABSB         Y8, Y8
	VPXOR          X9, X9, X9
	VPINSRW        $0x00, (SI), X9, X9
	VPINSRW        $0x01, (SI)(CX*1), X9, X9
	VPINSRW        $0x02, (SI)(CX*2), X9, X9
	VPINSRW        $0x03, (SI)(DX*1), X9, X9
	VPINSRW        $0x04, (DI), X9, X9
	VPINSRW        $0x05, (DI)(CX*1), X9, X9
	VPINSRW        $0x06, (DI)(CX*2), X9, X9
	VPINSRW        $0x07, (DI)(DX*1), X9, X9
	VCVTPH2PS      X9, Y9
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows1:
	VPBROADCASTD (AX), Y10
	VPSIGNB      (BX), Y10, Y10
	VPMADDUBSW   Y10, Y1, Y10
	VPMADDWD     Y0, Y10, Y10
	VPBROADCASTD 4(AX), Y11
	VPSIGNB      32(BX), Y11, Y11
	VPMADDUBSW   Y11, Y2, Y11
	VPMADDWD     Y0, Y11, Y11
	VPBROADCASTD 8(AX), Y12
	VPSIGNB      64(BX), Y12, Y12
	VPMADDUBSW   Y12, Y3, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y10, Y10
	VPBROADCASTD 12(AX), Y12
	VPSIGNB      96(BX), Y12, Y12
	VPMADDUBSW   Y12, Y4, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VPBROADCASTD 16(AX), Y12
	VPSIGNB      128(BX), Y12, Y12
	VPMADDUBSW   Y12, Y5, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y10, Y10
	VPBROADCASTD 20(AX), Y12
	VPSIGNB      160(BX), Y12, Y12
	VPMADDUBSW   Y12, Y6, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VPBROADCASTD 24(AX), Y12
	VPSIGNB      192(BX), Y12, Y12
	VPMADDUBSW   Y12, Y7, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y10, Y10
	VPBROADCASTD 28(AX), Y12
	VPSIGNB      224(BX), Y12, Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VPADDD       Y11, Y10, Y10
	VCVTDQ2PS    Y10, Y10
	VPBROADCASTD 32(AX), Y11
	VMULPS       Y11, Y10, Y10
	VMULPS       Y9, Y10, Y10
	VADDPS       (R9), Y10, Y10
	VMOVUPS      Y10, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows1
	ADDQ         $0x22, SI
	ADDQ         $0x22, DI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ4_0(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ4_0(SB), NOSPLIT, $0-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), BX
	LEAQ     (CX)(CX*2), DX
	LEAQ     (BX)(CX*4), SI
	LEAQ     8192(BX)(CX*8), DI
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0     (DI)
	PREFETCHT0     64(DI)
	PREFETCHT0     128(DI)
	ADDQ           $0x00000090, DI
	VBROADCASTI128 2(BX), Y1
	VINSERTI128    $0x01, 2(SI), Y1, Y1
	VBROADCASTI128 2(BX)(CX*1), Y2
	VINSERTI128    $0x01, 2(SI)(CX*1), Y2, Y2
	VBROADCASTI128 2(BX)(CX*2), Y3
	VINSERTI128    $0x01, 2(SI)(CX*2), Y3, Y3
	VBROADCASTI128 2(BX)(DX*1), Y4
	VINSERTI128    $0x01, 2(SI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y5
	VMOVDQU        Y1, Y1
	VPSRLW         $0x04, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y6
	VMOVDQU        Y2, Y2
	VPSRLW         $0x04, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y7
	VMOVDQU        Y3, Y3
	VPSRLW         $0x04, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y8
	VMOVDQU        Y4, Y4
	VPSRLW         $0x04, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPXOR          X9, X9, X9
	VPINSRW        $0x00, (BX), X9, X9
	VPINSRW        $0x01, (BX)(CX*1), X9, X9
	VPINSRW        $0x02, (BX)(CX*2), X9, X9
	VPINSRW        $0x03, (BX)(DX*1), X9, X9
	VPINSRW        $0x04, (SI), X9, X9
	VPINSRW        $0x05, (SI)(CX*1), X9, X9
	VPINSRW        $0x06, (SI)(CX*2), X9, X9
	VPINSRW        $0x07, (SI)(DX*1), X9, X9
	VCVTPH2PS      X9, Y9
	MOVQ           acc+0(FP), R8
	MOVQ           rows+32(FP), R9

rows1:
	VPBROADCASTD (AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 4(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 8(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 12(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 16(AX), Y11
	VPMADDUBSW   Y11, Y1, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y2, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y3, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 28(AX), Y11
	VPMADDUBSW   Y11, Y4, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPBROADCASTD 40(AX), Y11
	VPSLLD       $0x03, Y11, Y11
	VPSUBD       Y11, Y10, Y10
	VCVTDQ2PS    Y10, Y10
	VPBROADCASTD 32(AX), Y11
	VMULPS       Y11, Y10, Y10
	VMULPS       Y9, Y10, Y10
	VADDPS       (R8), Y10, Y10
	VMOVUPS      Y10, (R8)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R8
	DECQ         R9
	JNZ          rows1
	ADDQ         $0x12, BX
	ADDQ         $0x12, SI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ4_1(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ4_1(SB), NOSPLIT, $0-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), BX
	LEAQ     (CX)(CX*2), DX
	LEAQ     (BX)(CX*4), SI
	LEAQ     8192(BX)(CX*8), DI
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0     (DI)
	PREFETCHT0     64(DI)
	PREFETCHT0     128(DI)
	ADDQ           $0x000000a0, DI
	VBROADCASTI128 4(BX), Y1
	VINSERTI128    $0x01, 4(SI), Y1, Y1
	VBROADCASTI128 4(BX)(CX*1), Y2
	VINSERTI128    $0x01, 4(SI)(CX*1), Y2, Y2
	VBROADCASTI128 4(BX)(CX*2), Y3
	VINSERTI128    $0x01, 4(SI)(CX*2), Y3, Y3
	VBROADCASTI128 4(BX)(DX*1), Y4
	VINSERTI128    $0x01, 4(SI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y5
	VMOVDQU        Y1, Y1
	VPSRLW         $0x04, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y6
	VMOVDQU        Y2, Y2
	VPSRLW         $0x04, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y7
	VMOVDQU        Y3, Y3
	VPSRLW         $0x04, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y8
	VMOVDQU        Y4, Y4
	VPSRLW         $0x04, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPXOR          X9, X9, X9
	VPINSRW        $0x00, (BX), X9, X9
	VPINSRW        $0x01, (BX)(CX*1), X9, X9
	VPINSRW        $0x02, (BX)(CX*2), X9, X9
	VPINSRW        $0x03, (BX)(DX*1), X9, X9
	VPINSRW        $0x04, (SI), X9, X9
	VPINSRW        $0x05, (SI)(CX*1), X9, X9
	VPINSRW        $0x06, (SI)(CX*2), X9, X9
	VPINSRW        $0x07, (SI)(DX*1), X9, X9
	VCVTPH2PS      X9, Y9
	VPXOR          X10, X10, X10
	VPINSRW        $0x00, 2(BX), X10, X10
	VPINSRW        $0x01, 2(BX)(CX*1), X10, X10
	VPINSRW        $0x02, 2(BX)(CX*2), X10, X10
	VPINSRW        $0x03, 2(BX)(DX*1), X10, X10
	VPINSRW        $0x04, 2(SI), X10, X10
	VPINSRW        $0x05, 2(SI)(CX*1), X10, X10
	VPINSRW        $0x06, 2(SI)(CX*2), X10, X10
	VPINSRW        $0x07, 2(SI)(DX*1), X10, X10
	VCVTPH2PS      X10, Y10
	VXORPS         avx2Signs<>+0(SB), Y10, Y10
	MOVQ           acc+0(FP), R8
	MOVQ           rows+32(FP), R9

rows1:
	VPBROADCASTD (AX), Y11
	VPMADDUBSW   Y11, Y5, Y11
	VPBROADCASTD 4(AX), Y12
	VPMADDUBSW   Y12, Y6, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 8(AX), Y12
	VPMADDUBSW   Y12, Y7, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 12(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 16(AX), Y12
	VPMADDUBSW   Y12, Y1, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 20(AX), Y12
	VPMADDUBSW   Y12, Y2, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 24(AX), Y12
	VPMADDUBSW   Y12, Y3, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y4, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     Y0, Y11, Y11
	VCVTDQ2PS    Y11, Y11
	VPBROADCASTD 32(AX), Y12
	VMULPS       Y12, Y11, Y11
	VMULPS       Y9, Y11, Y11
	VADDPS       (R8), Y11, Y11
	VPBROADCASTD 44(AX), Y12
	VMULPS       Y10, Y12, Y12
	VSUBPS       Y12, Y11, Y11
	VMOVUPS      Y11, (R8)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R8
	DECQ         R9
	JNZ          rows1
	ADDQ         $0x14, BX
	ADDQ         $0x14, SI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ5_0(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ5_0(SB), NOSPLIT, $0-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), BX
	LEAQ     (CX)(CX*2), DX
	LEAQ     (BX)(CX*4), SI
	LEAQ     8192(BX)(CX*8), DI
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0     (DI)
	PREFETCHT0     64(DI)
	PREFETCHT0     128(DI)
	ADDQ           $0x000000b0, DI
	VBROADCASTI128 6(BX), Y1
	VINSERTI128    $0x01, 6(SI), Y1, Y1
	VBROADCASTI128 6(BX)(CX*1), Y2
	VINSERTI128    $0x01, 6(SI)(CX*1), Y2, Y2
	VBROADCASTI128 6(BX)(CX*2), Y3
	VINSERTI128    $0x01, 6(SI)(CX*2), Y3, Y3
	VBROADCASTI128 6(BX)(DX*1), Y4
	VINSERTI128    $0x01, 6(SI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y5
	VMOVDQU        Y1, Y1
	VPSRLW         $0x04, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y6
	VMOVDQU        Y2, Y2
	VPSRLW         $0x04, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y7
	VMOVDQU        Y3, Y3
	VPSRLW         $0x04, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y8
	VMOVDQU        Y4, Y4
	VPSRLW         $0x04, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPBROADCASTD   2(BX), Y9
	VMOVD          2(SI), X10
	VPINSRD        $0x01, 2(BX)(CX*1), X9, X9
	VPINSRD        $0x01, 2(SI)(CX*1), X10, X10
	VPINSRD        $0x02, 2(BX)(CX*2), X9, X9
	VPINSRD        $0x02, 2(SI)(CX*2), X10, X10
	VPINSRD        $0x03, 2(BX)(DX*1), X9, X9
	VPINSRD        $0x03, 2(SI)(DX*1), X10, X10
	VINSERTI128    $0x01, X10, Y9, Y9
	VPSHUFB        avx2CopyByte0<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y5, Y5
	VPSHUFB        avx2CopyByte0<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits1<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y6, Y6
	VPSHUFB        avx2CopyByte1<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y7, Y7
	VPSHUFB        avx2CopyByte1<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits1<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y8, Y8
	VPSHUFB        avx2CopyByte2<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y1, Y1
	VPSHUFB        avx2CopyByte2<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits1<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y2, Y2
	VPSHUFB        avx2CopyByte3<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y3, Y3
	VPSHUFB        avx2CopyByte3<>+0(SB), Y9, Y9
	VPAND          avx2SelectBits1<>+0(SB), Y9, Y9
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y4, Y4
	VPXOR          X9, X9, X9
	VPINSRW        $0x00, (BX), X9, X9
	VPINSRW        $0x01, (BX)(CX*1), X9, X9
	VPINSRW        $0x02, (BX)(CX*2), X9, X9
	VPINSRW        $0x03, (BX)(DX*1), X9, X9
	VPINSRW        $0x04, (SI), X9, X9
	VPINSRW        $0x05, (SI)(CX*1), X9, X9
	VPINSRW        $0x06, (SI)(CX*2), X9, X9
	VPINSRW        $0x07, (SI)(DX*1), X9, X9
	VCVTPH2PS      X9, Y9
	MOVQ           acc+0(FP), R8
	MOVQ           rows+32(FP), R9

rows1:
	VPBROADCASTD (AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 4(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 8(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 12(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPBROADCASTD 16(AX), Y11
	VPMADDUBSW   Y11, Y1, Y11
	VPBROADCASTD 20(AX), Y12
	VPMADDUBSW   Y12, Y2, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 24(AX), Y12
	VPMADDUBSW   Y12, Y3, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y4, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     Y0, Y11, Y11
	VPADDD       Y11, Y10, Y10
	VPBROADCASTD 40(AX), Y11
	VPSLLD       $0x04, Y11, Y11
	VPSUBD       Y11, Y10, Y10
	VCVTDQ2PS    Y10, Y10
	VPBROADCASTD 32(AX), Y11
	VMULPS       Y11, Y10, Y10
	VMULPS       Y9, Y10, Y10
	VADDPS       (R8), Y10, Y10
	VMOVUPS      Y10, (R8)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R8
	DECQ         R9
	JNZ          rows1
	ADDQ         $0x16, BX
	ADDQ         $0x16, SI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ5_1(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ5_1(SB), NOSPLIT, $0-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), BX
	LEAQ     (CX)(CX*2), DX
	LEAQ     (BX)(CX*4), SI
	LEAQ     8192(BX)(CX*8), DI
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0     (DI)
	PREFETCHT0     64(DI)
	PREFETCHT0     128(DI)
	ADDQ           $0x000000c0, DI
	VBROADCASTI128 8(BX), Y1
	VINSERTI128    $0x01, 8(SI), Y1, Y1
	VBROADCASTI128 8(BX)(CX*1), Y2
	VINSERTI128    $0x01, 8(SI)(CX*1), Y2, Y2
	VBROADCASTI128 8(BX)(CX*2), Y3
	VINSERTI128    $0x01, 8(SI)(CX*2), Y3, Y3
	VBROADCASTI128 8(BX)(DX*1), Y4
	VINSERTI128    $0x01, 8(SI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y5
	VMOVDQU        Y1, Y1
	VPSRLW         $0x04, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y6
	VMOVDQU        Y2, Y2
	VPSRLW         $0x04, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y7
	VMOVDQU        Y3, Y3
	VPSRLW         $0x04, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y8
	VMOVDQU        Y4, Y4
	VPSRLW         $0x04, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPBROADCASTD   4(BX), Y9
	VMOVD          4(SI), X10
	VPINSRD        $0x01, 4(BX)(CX*1), X9, X9
	VPINSRD        $0x01, 4(SI)(CX*1), X10, X10
	VPINSRD        $0x02, 4(BX)(CX*2), X9, X9
	VPINSRD        $0x02, 4(SI)(CX*2), X10, X10
	VPINSRD        $0x03, 4(BX)(DX*1), X9, X9
	VPINSRD        $0x03, 4(SI)(DX*1), X10, X10
	VINSERTI128    $0x01, X10, Y9, Y9
	VPSHUFB        avx2CopyByte0<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y5, Y5
	VPSHUFB        avx2CopyByte0<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits1<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y6, Y6
	VPSHUFB        avx2CopyByte1<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y7, Y7
	VPSHUFB        avx2CopyByte1<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits1<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y8, Y8
	VPSHUFB        avx2CopyByte2<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y1, Y1
	VPSHUFB        avx2CopyByte2<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits1<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y2, Y2
	VPSHUFB        avx2CopyByte3<>+0(SB), Y9, Y10
	VPAND          avx2SelectBits0<>+0(SB), Y10, Y10
	VPCMPEQB       avx2SelectBits0<>+0(SB), Y10, Y10
	VPAND          avx2Sixteens<>+0(SB), Y10, Y10
	VPOR           Y10, Y3, Y3
	VPSHUFB        avx2CopyByte3<>+0(SB), Y9, Y9
	VPAND          avx2SelectBits1<>+0(SB), Y9, Y9
	VPCMPEQB       avx2SelectBits1<>+0(SB), Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y4, Y4
	VPXOR          X9, X9, X9
	VPINSRW        $0x00, (BX), X9, X9
	VPINSRW        $0x01, (BX)(CX*1), X9, X9
	VPINSRW        $0x02, (BX)(CX*2), X9, X9
	VPINSRW        $0x03, (BX)(DX*1), X9, X9
	VPINSRW        $0x04, (SI), X9, X9
	VPINSRW        $0x05, (SI)(CX*1), X9, X9
	VPINSRW        $0x06, (SI)(CX*2), X9, X9
	VPINSRW        $0x07, (SI)(DX*1), X9, X9
	VCVTPH2PS      X9, Y9
	VPXOR          X10, X10, X10
	VPINSRW        $0x00, 2(BX), X10, X10
	VPINSRW        $0x01, 2(BX)(CX*1), X10, X10
	VPINSRW        $0x02, 2(BX)(CX*2), X10, X10
	VPINSRW        $0x03, 2(BX)(DX*1), X10, X10
	VPINSRW        $0x04, 2(SI), X10, X10
	VPINSRW        $0x05, 2(SI)(CX*1), X10, X10
	VPINSRW        $0x06, 2(SI)(CX*2), X10, X10
	VPINSRW        $0x07, 2(SI)(DX*1), X10, X10
	VCVTPH2PS      X10, Y10
	VXORPS         avx2Signs<>+0(SB), Y10, Y10
	MOVQ           acc+0(FP), R8
	MOVQ           rows+32(FP), R9

rows1:
	VPBROADCASTD (AX), Y11
	VPMADDUBSW   Y11, Y5, Y11
	VPBROADCASTD 4(AX), Y12
	VPMADDUBSW   Y12, Y6, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 8(AX), Y12
	VPMADDUBSW   Y12, Y7, Y12
	VPADDW       Y12, Y11, Y11
	VPBROADCASTD 12(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     Y0, Y11, Y11
	VPBROADCASTD 16(AX), Y12
	VPMADDUBSW   Y12, Y1, Y12
	VPBROADCASTD 20(AX), Y13
	VPMADDUBSW   Y13, Y2, Y13
	VPADDW       Y13, Y12, Y12
	VPBROADCASTD 24(AX), Y13
	VPMADDUBSW   Y13, Y3, Y13
	VPADDW       Y13, Y12, Y12
	VPBROADCASTD 28(AX), Y13
	VPMADDUBSW   Y13, Y4, Y13
	VPADDW       Y13, Y12, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VCVTDQ2PS    Y11, Y11
	VPBROADCASTD 32(AX), Y12
	VMULPS       Y12, Y11, Y11
	VMULPS       Y9, Y11, Y11
	VADDPS       (R8), Y11, Y11
	VPBROADCASTD 44(AX), Y12
	VMULPS       Y10, Y12, Y12
	VSUBPS       Y12, Y11, Y11
	VMOVUPS      Y11, (R8)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R8
	DECQ         R9
	JNZ          rows1
	ADDQ         $0x18, BX
	ADDQ         $0x18, SI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ4_K(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ4_K(SB), $800-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), SI
	LEAQ     (CX)(CX*2), DX
	LEAQ     (SI)(CX*4), DI
	LEAQ     8192(SI)(CX*8), R8
	LEAQ     (SP), BX
	ADDQ     $0x1f, BX
	ANDQ     $-32, BX
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	VBROADCASTI128 (SI), Y1
	VINSERTI128    $0x01, (DI), Y1, Y1
	VBROADCASTI128 (SI)(CX*1), Y2
	VINSERTI128    $0x01, (DI)(CX*1), Y2, Y2
	VBROADCASTI128 (SI)(CX*2), Y3
	VINSERTI128    $0x01, (DI)(CX*2), Y3, Y3
	VBROADCASTI128 (SI)(DX*1), Y4
	VINSERTI128    $0x01, (DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VPAND          avx2LowWords<>+0(SB), Y1, Y5
	VEXTRACTI128   $0x01, Y5, X6
	VPACKUSDW      X6, X5, X6
	VCVTPH2PS      X6, Y5
	VPSRLD         $0x10, Y1, Y1
	VPAND          avx2LowWords<>+0(SB), Y1, Y1
	VEXTRACTI128   $0x01, Y1, X6
	VPACKUSDW      X6, X1, X6
	VCVTPH2PS      X6, Y1
	VPAND          avx2Low6<>+0(SB), Y2, Y6
	VPAND          avx2Low6<>+0(SB), Y3, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y8
	VPSRLW         $0x02, Y2, Y2
	VPAND          avx2Bits4And5<>+0(SB), Y2, Y2
	VPOR           Y8, Y2, Y2
	VMOVDQU        Y4, Y4
	VPSRLW         $0x04, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPSRLW         $0x02, Y3, Y3
	VPAND          avx2Bits4And5<>+0(SB), Y3, Y3
	VPOR           Y4, Y3, Y3
	VPSHUFB        avx2WidenByte0<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, (BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 64(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 128(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 192(BX)
	VPSHUFB        avx2WidenByte0<>+0(SB), Y2, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 256(BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y2, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 320(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y2, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 384(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y2, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y5, Y2, Y2
	VMOVAPS        Y2, 448(BX)
	VPSHUFB        avx2WidenByte0<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 32(BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 96(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 160(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 224(BX)
	VPSHUFB        avx2WidenByte0<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 288(BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 352(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 416(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 480(BX)
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	ADDQ           $0x00000120, R8
	VBROADCASTI128 16(SI), Y1
	VINSERTI128    $0x01, 16(DI), Y1, Y1
	VBROADCASTI128 16(SI)(CX*1), Y2
	VINSERTI128    $0x01, 16(DI)(CX*1), Y2, Y2
	VBROADCASTI128 16(SI)(CX*2), Y3
	VINSERTI128    $0x01, 16(DI)(CX*2), Y3, Y3
	VBROADCASTI128 16(SI)(DX*1), Y4
	VINSERTI128    $0x01, 16(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 32(SI), Y5
	VINSERTI128    $0x01, 32(DI), Y5, Y5
	VBROADCASTI128 32(SI)(CX*1), Y6
	VINSERTI128    $0x01, 32(DI)(CX*1), Y6, Y6
	VBROADCASTI128 32(SI)(CX*2), Y7
	VINSERTI128    $0x01, 32(DI)(CX*2), Y7, Y7
	VBROADCASTI128 32(SI)(DX*1), Y8
	VINSERTI128    $0x01, 32(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows1:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 20(AX), Y10
	VPMADDUBSW   Y10, Y6, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 24(AX), Y10
	VPMADDUBSW   Y10, Y7, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 28(AX), Y10
	VPMADDUBSW   Y10, Y8, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       (BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       32(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows1
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows2:
	VPBROADCASTD   (AX), Y9
	VPMADDUBSW     Y9, Y1, Y9
	VPBROADCASTD   4(AX), Y10
	VPMADDUBSW     Y10, Y2, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   8(AX), Y10
	VPMADDUBSW     Y10, Y3, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   20(AX), Y10
	VPMADDUBSW     Y10, Y6, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   24(AX), Y10
	VPMADDUBSW     Y10, Y7, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   28(AX), Y10
	VPMADDUBSW     Y10, Y8, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       Y0, Y9, Y9
	VCVTDQ2PS      Y9, Y9
	VPBROADCASTD   32(AX), Y10
	VMULPS         Y10, Y9, Y9
	VMULPS         64(BX), Y9, Y9
	VADDPS         (R9), Y9, Y9
	VPBROADCASTD   44(AX), Y10
	VMULPS         96(BX), Y10, Y10
	VSUBPS         Y10, Y9, Y9
	VMOVUPS        Y9, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows2
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	ADDQ           $0x00000120, R8
	VBROADCASTI128 48(SI), Y1
	VINSERTI128    $0x01, 48(DI), Y1, Y1
	VBROADCASTI128 48(SI)(CX*1), Y2
	VINSERTI128    $0x01, 48(DI)(CX*1), Y2, Y2
	VBROADCASTI128 48(SI)(CX*2), Y3
	VINSERTI128    $0x01, 48(DI)(CX*2), Y3, Y3
	VBROADCASTI128 48(SI)(DX*1), Y4
	VINSERTI128    $0x01, 48(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 64(SI), Y5
	VINSERTI128    $0x01, 64(DI), Y5, Y5
	VBROADCASTI128 64(SI)(CX*1), Y6
	VINSERTI128    $0x01, 64(DI)(CX*1), Y6, Y6
	VBROADCASTI128 64(SI)(CX*2), Y7
	VINSERTI128    $0x01, 64(DI)(CX*2), Y7, Y7
	VBROADCASTI128 64(SI)(DX*1), Y8
	VINSERTI128    $0x01, 64(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows3:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 20(AX), Y10
	VPMADDUBSW   Y10, Y6, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 24(AX), Y10
	VPMADDUBSW   Y10, Y7, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 28(AX), Y10
	VPMADDUBSW   Y10, Y8, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       128(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       160(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows3
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows4:
	VPBROADCASTD   (AX), Y9
	VPMADDUBSW     Y9, Y1, Y9
	VPBROADCASTD   4(AX), Y10
	VPMADDUBSW     Y10, Y2, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   8(AX), Y10
	VPMADDUBSW     Y10, Y3, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   20(AX), Y10
	VPMADDUBSW     Y10, Y6, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   24(AX), Y10
	VPMADDUBSW     Y10, Y7, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   28(AX), Y10
	VPMADDUBSW     Y10, Y8, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       Y0, Y9, Y9
	VCVTDQ2PS      Y9, Y9
	VPBROADCASTD   32(AX), Y10
	VMULPS         Y10, Y9, Y9
	VMULPS         192(BX), Y9, Y9
	VADDPS         (R9), Y9, Y9
	VPBROADCASTD   44(AX), Y10
	VMULPS         224(BX), Y10, Y10
	VSUBPS         Y10, Y9, Y9
	VMOVUPS        Y9, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows4
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	ADDQ           $0x00000120, R8
	VBROADCASTI128 80(SI), Y1
	VINSERTI128    $0x01, 80(DI), Y1, Y1
	VBROADCASTI128 80(SI)(CX*1), Y2
	VINSERTI128    $0x01, 80(DI)(CX*1), Y2, Y2
	VBROADCASTI128 80(SI)(CX*2), Y3
	VINSERTI128    $0x01, 80(DI)(CX*2), Y3, Y3
	VBROADCASTI128 80(SI)(DX*1), Y4
	VINSERTI128    $0x01, 80(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 96(SI), Y5
	VINSERTI128    $0x01, 96(DI), Y5, Y5
	VBROADCASTI128 96(SI)(CX*1), Y6
	VINSERTI128    $0x01, 96(DI)(CX*1), Y6, Y6
	VBROADCASTI128 96(SI)(CX*2), Y7
	VINSERTI128    $0x01, 96(DI)(CX*2), Y7, Y7
	VBROADCASTI128 96(SI)(DX*1), Y8
	VINSERTI128    $0x01, 96(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows5:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 20(AX), Y10
	VPMADDUBSW   Y10, Y6, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 24(AX), Y10
	VPMADDUBSW   Y10, Y7, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 28(AX), Y10
	VPMADDUBSW   Y10, Y8, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       256(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       288(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows5
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows6:
	VPBROADCASTD   (AX), Y9
	VPMADDUBSW     Y9, Y1, Y9
	VPBROADCASTD   4(AX), Y10
	VPMADDUBSW     Y10, Y2, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   8(AX), Y10
	VPMADDUBSW     Y10, Y3, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   20(AX), Y10
	VPMADDUBSW     Y10, Y6, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   24(AX), Y10
	VPMADDUBSW     Y10, Y7, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   28(AX), Y10
	VPMADDUBSW     Y10, Y8, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       Y0, Y9, Y9
	VCVTDQ2PS      Y9, Y9
	VPBROADCASTD   32(AX), Y10
	VMULPS         Y10, Y9, Y9
	VMULPS         320(BX), Y9, Y9
	VADDPS         (R9), Y9, Y9
	VPBROADCASTD   44(AX), Y10
	VMULPS         352(BX), Y10, Y10
	VSUBPS         Y10, Y9, Y9
	VMOVUPS        Y9, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows6
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	ADDQ           $0x00000120, R8
	VBROADCASTI128 112(SI), Y1
	VINSERTI128    $0x01, 112(DI), Y1, Y1
	VBROADCASTI128 112(SI)(CX*1), Y2
	VINSERTI128    $0x01, 112(DI)(CX*1), Y2, Y2
	VBROADCASTI128 112(SI)(CX*2), Y3
	VINSERTI128    $0x01, 112(DI)(CX*2), Y3, Y3
	VBROADCASTI128 112(SI)(DX*1), Y4
	VINSERTI128    $0x01, 112(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 128(SI), Y5
	VINSERTI128    $0x01, 128(DI), Y5, Y5
	VBROADCASTI128 128(SI)(CX*1), Y6
	VINSERTI128    $0x01, 128(DI)(CX*1), Y6, Y6
	VBROADCASTI128 128(SI)(CX*2), Y7
	VINSERTI128    $0x01, 128(DI)(CX*2), Y7, Y7
	VBROADCASTI128 128(SI)(DX*1), Y8
	VINSERTI128    $0x01, 128(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows7:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 20(AX), Y10
	VPMADDUBSW   Y10, Y6, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 24(AX), Y10
	VPMADDUBSW   Y10, Y7, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 28(AX), Y10
	VPMADDUBSW   Y10, Y8, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       384(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       416(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows7
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows8:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 20(AX), Y10
	VPMADDUBSW   Y10, Y6, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 24(AX), Y10
	VPMADDUBSW   Y10, Y7, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 28(AX), Y10
	VPMADDUBSW   Y10, Y8, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       448(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       480(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows8
	ADDQ         $0x90, SI
	ADDQ         $0x90, DI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ5_K(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ5_K(SB), $1056-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), SI
	LEAQ     (CX)(CX*2), DX
	LEAQ     (SI)(CX*4), DI
	LEAQ     8192(SI)(CX*8), R8
	LEAQ     (SP), BX
	ADDQ     $0x1f, BX
	ANDQ     $-32, BX
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	VBROADCASTI128 (SI), Y1
	VINSERTI128    $0x01, (DI), Y1, Y1
	VBROADCASTI128 (SI)(CX*1), Y2
	VINSERTI128    $0x01, (DI)(CX*1), Y2, Y2
	VBROADCASTI128 (SI)(CX*2), Y3
	VINSERTI128    $0x01, (DI)(CX*2), Y3, Y3
	VBROADCASTI128 (SI)(DX*1), Y4
	VINSERTI128    $0x01, (DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VPAND          avx2LowWords<>+0(SB), Y1, Y5
	VEXTRACTI128   $0x01, Y5, X6
	VPACKUSDW      X6, X5, X6
	VCVTPH2PS      X6, Y5
	VPSRLD         $0x10, Y1, Y1
	VPAND          avx2LowWords<>+0(SB), Y1, Y1
	VEXTRACTI128   $0x01, Y1, X6
	VPACKUSDW      X6, X1, X6
	VCVTPH2PS      X6, Y1
	VPAND          avx2Low6<>+0(SB), Y2, Y6
	VPAND          avx2Low6<>+0(SB), Y3, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y8
	VPSRLW         $0x02, Y2, Y2
	VPAND          avx2Bits4And5<>+0(SB), Y2, Y2
	VPOR           Y8, Y2, Y2
	VMOVDQU        Y4, Y4
	VPSRLW         $0x04, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPSRLW         $0x02, Y3, Y3
	VPAND          avx2Bits4And5<>+0(SB), Y3, Y3
	VPOR           Y4, Y3, Y3
	VPSHUFB        avx2WidenByte0<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, (BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 64(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 128(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y6, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 192(BX)
	VPSHUFB        avx2WidenByte0<>+0(SB), Y2, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 256(BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y2, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 320(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y2, Y4
	VCVTDQ2PS      Y4, Y4
	VMULPS         Y5, Y4, Y4
	VMOVAPS        Y4, 384(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y2, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y5, Y2, Y2
	VMOVAPS        Y2, 448(BX)
	VPSHUFB        avx2WidenByte0<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 32(BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 96(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 160(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y7, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 224(BX)
	VPSHUFB        avx2WidenByte0<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 288(BX)
	VPSHUFB        avx2WidenByte1<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 352(BX)
	VPSHUFB        avx2WidenByte2<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 416(BX)
	VPSHUFB        avx2WidenByte3<>+0(SB), Y3, Y2
	VCVTDQ2PS      Y2, Y2
	VMULPS         Y1, Y2, Y2
	VMOVAPS        Y2, 480(BX)
	VBROADCASTI128 16(SI), Y1
	VINSERTI128    $0x01, 16(DI), Y1, Y1
	VBROADCASTI128 16(SI)(CX*1), Y2
	VINSERTI128    $0x01, 16(DI)(CX*1), Y2, Y2
	VBROADCASTI128 16(SI)(CX*2), Y3
	VINSERTI128    $0x01, 16(DI)(CX*2), Y3, Y3
	VBROADCASTI128 16(SI)(DX*1), Y4
	VINSERTI128    $0x01, 16(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 32(SI), Y5
	VINSERTI128    $0x01, 32(DI), Y5, Y5
	VBROADCASTI128 32(SI)(CX*1), Y6
	VINSERTI128    $0x01, 32(DI)(CX*1), Y6, Y6
	VBROADCASTI128 32(SI)(CX*2), Y7
	VINSERTI128    $0x01, 32(DI)(CX*2), Y7, Y7
	VBROADCASTI128 32(SI)(DX*1), Y8
	VINSERTI128    $0x01, 32(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 768(BX)
	VMOVDQA        Y2, 800(BX)
	VMOVDQA        Y3, 832(BX)
	VMOVDQA        Y4, 864(BX)
	VMOVDQA        Y5, 896(BX)
	VMOVDQA        Y6, 928(BX)
	VMOVDQA        Y7, 960(BX)
	VMOVDQA        Y8, 992(BX)
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	PREFETCHT0     320(R8)
	ADDQ           $0x00000160, R8
	VBROADCASTI128 48(SI), Y1
	VINSERTI128    $0x01, 48(DI), Y1, Y1
	VBROADCASTI128 48(SI)(CX*1), Y2
	VINSERTI128    $0x01, 48(DI)(CX*1), Y2, Y2
	VBROADCASTI128 48(SI)(CX*2), Y3
	VINSERTI128    $0x01, 48(DI)(CX*2), Y3, Y3
	VBROADCASTI128 48(SI)(DX*1), Y4
	VINSERTI128    $0x01, 48(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 64(SI), Y5
	VINSERTI128    $0x01, 64(DI), Y5, Y5
	VBROADCASTI128 64(SI)(CX*1), Y6
	VINSERTI128    $0x01, 64(DI)(CX*1), Y6, Y6
	VBROADCASTI128 64(SI)(CX*2), Y7
	VINSERTI128    $0x01, 64(DI)(CX*2), Y7, Y7
	VBROADCASTI128 64(SI)(DX*1), Y8
	VINSERTI128    $0x01, 64(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA        768(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA        800(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA        832(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA        864(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA        896(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA        928(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA        960(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA        992(BX), Y9
	VPSLLW         $0x04, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows1:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 28(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPADDD       Y10, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       (BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       32(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows1
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA      768(BX), Y2
	VPSLLW       $0x03, Y2, Y2
	VPAND        avx2Sixteens<>+0(SB), Y2, Y2
	VPOR         Y2, Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA      800(BX), Y3
	VPSLLW       $0x03, Y3, Y3
	VPAND        avx2Sixteens<>+0(SB), Y3, Y3
	VPOR         Y3, Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA      832(BX), Y4
	VPSLLW       $0x03, Y4, Y4
	VPAND        avx2Sixteens<>+0(SB), Y4, Y4
	VPOR         Y4, Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA      864(BX), Y5
	VPSLLW       $0x03, Y5, Y5
	VPAND        avx2Sixteens<>+0(SB), Y5, Y5
	VPOR         Y5, Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA      896(BX), Y6
	VPSLLW       $0x03, Y6, Y6
	VPAND        avx2Sixteens<>+0(SB), Y6, Y6
	VPOR         Y6, Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA      928(BX), Y7
	VPSLLW       $0x03, Y7, Y7
	VPAND        avx2Sixteens<>+0(SB), Y7, Y7
	VPOR         Y7, Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA      960(BX), Y8
	VPSLLW       $0x03, Y8, Y8
	VPAND        avx2Sixteens<>+0(SB), Y8, Y8
	VPOR         Y8, Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA      992(BX), Y9
	VPSLLW       $0x03, Y9, Y9
	VPAND        avx2Sixteens<>+0(SB), Y9, Y9
	VPOR         Y9, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows2:
	VPBROADCASTD   (AX), Y9
	VPMADDUBSW     Y9, Y1, Y9
	VPBROADCASTD   4(AX), Y10
	VPMADDUBSW     Y10, Y2, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   8(AX), Y10
	VPMADDUBSW     Y10, Y3, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       Y0, Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPBROADCASTD   20(AX), Y11
	VPMADDUBSW     Y11, Y6, Y11
	VPADDW         Y11, Y10, Y10
	VPBROADCASTD   24(AX), Y11
	VPMADDUBSW     Y11, Y7, Y11
	VPADDW         Y11, Y10, Y10
	VPBROADCASTD   28(AX), Y11
	VPMADDUBSW     Y11, Y8, Y11
	VPADDW         Y11, Y10, Y10
	VPMADDWD       Y0, Y10, Y10
	VPADDD         Y10, Y9, Y9
	VCVTDQ2PS      Y9, Y9
	VPBROADCASTD   32(AX), Y10
	VMULPS         Y10, Y9, Y9
	VMULPS         64(BX), Y9, Y9
	VADDPS         (R9), Y9, Y9
	VPBROADCASTD   44(AX), Y10
	VMULPS         96(BX), Y10, Y10
	VSUBPS         Y10, Y9, Y9
	VMOVUPS        Y9, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows2
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	PREFETCHT0     320(R8)
	ADDQ           $0x00000160, R8
	VBROADCASTI128 80(SI), Y1
	VINSERTI128    $0x01, 80(DI), Y1, Y1
	VBROADCASTI128 80(SI)(CX*1), Y2
	VINSERTI128    $0x01, 80(DI)(CX*1), Y2, Y2
	VBROADCASTI128 80(SI)(CX*2), Y3
	VINSERTI128    $0x01, 80(DI)(CX*2), Y3, Y3
	VBROADCASTI128 80(SI)(DX*1), Y4
	VINSERTI128    $0x01, 80(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 96(SI), Y5
	VINSERTI128    $0x01, 96(DI), Y5, Y5
	VBROADCASTI128 96(SI)(CX*1), Y6
	VINSERTI128    $0x01, 96(DI)(CX*1), Y6, Y6
	VBROADCASTI128 96(SI)(CX*2), Y7
	VINSERTI128    $0x01, 96(DI)(CX*2), Y7, Y7
	VBROADCASTI128 96(SI)(DX*1), Y8
	VINSERTI128    $0x01, 96(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA        768(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA        800(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA        832(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA        864(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA        896(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA        928(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA        960(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA        992(BX), Y9
	VPSLLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows3:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 28(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPADDD       Y10, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       128(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       160(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows3
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA      768(BX), Y2
	VPSLLW       $0x01, Y2, Y2
	VPAND        avx2Sixteens<>+0(SB), Y2, Y2
	VPOR         Y2, Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA      800(BX), Y3
	VPSLLW       $0x01, Y3, Y3
	VPAND        avx2Sixteens<>+0(SB), Y3, Y3
	VPOR         Y3, Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA      832(BX), Y4
	VPSLLW       $0x01, Y4, Y4
	VPAND        avx2Sixteens<>+0(SB), Y4, Y4
	VPOR         Y4, Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA      864(BX), Y5
	VPSLLW       $0x01, Y5, Y5
	VPAND        avx2Sixteens<>+0(SB), Y5, Y5
	VPOR         Y5, Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA      896(BX), Y6
	VPSLLW       $0x01, Y6, Y6
	VPAND        avx2Sixteens<>+0(SB), Y6, Y6
	VPOR         Y6, Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA      928(BX), Y7
	VPSLLW       $0x01, Y7, Y7
	VPAND        avx2Sixteens<>+0(SB), Y7, Y7
	VPOR         Y7, Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA      960(BX), Y8
	VPSLLW       $0x01, Y8, Y8
	VPAND        avx2Sixteens<>+0(SB), Y8, Y8
	VPOR         Y8, Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA      992(BX), Y9
	VPSLLW       $0x01, Y9, Y9
	VPAND        avx2Sixteens<>+0(SB), Y9, Y9
	VPOR         Y9, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows4:
	VPBROADCASTD   (AX), Y9
	VPMADDUBSW     Y9, Y1, Y9
	VPBROADCASTD   4(AX), Y10
	VPMADDUBSW     Y10, Y2, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   8(AX), Y10
	VPMADDUBSW     Y10, Y3, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       Y0, Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPBROADCASTD   20(AX), Y11
	VPMADDUBSW     Y11, Y6, Y11
	VPADDW         Y11, Y10, Y10
	VPBROADCASTD   24(AX), Y11
	VPMADDUBSW     Y11, Y7, Y11
	VPADDW         Y11, Y10, Y10
	VPBROADCASTD   28(AX), Y11
	VPMADDUBSW     Y11, Y8, Y11
	VPADDW         Y11, Y10, Y10
	VPMADDWD       Y0, Y10, Y10
	VPADDD         Y10, Y9, Y9
	VCVTDQ2PS      Y9, Y9
	VPBROADCASTD   32(AX), Y10
	VMULPS         Y10, Y9, Y9
	VMULPS         192(BX), Y9, Y9
	VADDPS         (R9), Y9, Y9
	VPBROADCASTD   44(AX), Y10
	VMULPS         224(BX), Y10, Y10
	VSUBPS         Y10, Y9, Y9
	VMOVUPS        Y9, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows4
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	PREFETCHT0     320(R8)
	ADDQ           $0x00000160, R8
	VBROADCASTI128 112(SI), Y1
	VINSERTI128    $0x01, 112(DI), Y1, Y1
	VBROADCASTI128 112(SI)(CX*1), Y2
	VINSERTI128    $0x01, 112(DI)(CX*1), Y2, Y2
	VBROADCASTI128 112(SI)(CX*2), Y3
	VINSERTI128    $0x01, 112(DI)(CX*2), Y3, Y3
	VBROADCASTI128 112(SI)(DX*1), Y4
	VINSERTI128    $0x01, 112(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 128(SI), Y5
	VINSERTI128    $0x01, 128(DI), Y5, Y5
	VBROADCASTI128 128(SI)(CX*1), Y6
	VINSERTI128    $0x01, 128(DI)(CX*1), Y6, Y6
	VBROADCASTI128 128(SI)(CX*2), Y7
	VINSERTI128    $0x01, 128(DI)(CX*2), Y7, Y7
	VBROADCASTI128 128(SI)(DX*1), Y8
	VINSERTI128    $0x01, 128(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA        768(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA        800(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA        832(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA        864(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA        896(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA        928(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA        960(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA        992(BX), Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows5:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 28(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPADDD       Y10, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       256(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       288(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows5
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA      768(BX), Y2
	VPSRLW       $0x01, Y2, Y2
	VPAND        avx2Sixteens<>+0(SB), Y2, Y2
	VPOR         Y2, Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA      800(BX), Y3
	VPSRLW       $0x01, Y3, Y3
	VPAND        avx2Sixteens<>+0(SB), Y3, Y3
	VPOR         Y3, Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA      832(BX), Y4
	VPSRLW       $0x01, Y4, Y4
	VPAND        avx2Sixteens<>+0(SB), Y4, Y4
	VPOR         Y4, Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA      864(BX), Y5
	VPSRLW       $0x01, Y5, Y5
	VPAND        avx2Sixteens<>+0(SB), Y5, Y5
	VPOR         Y5, Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA      896(BX), Y6
	VPSRLW       $0x01, Y6, Y6
	VPAND        avx2Sixteens<>+0(SB), Y6, Y6
	VPOR         Y6, Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA      928(BX), Y7
	VPSRLW       $0x01, Y7, Y7
	VPAND        avx2Sixteens<>+0(SB), Y7, Y7
	VPOR         Y7, Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA      960(BX), Y8
	VPSRLW       $0x01, Y8, Y8
	VPAND        avx2Sixteens<>+0(SB), Y8, Y8
	VPOR         Y8, Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA      992(BX), Y9
	VPSRLW       $0x01, Y9, Y9
	VPAND        avx2Sixteens<>+0(SB), Y9, Y9
	VPOR         Y9, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows6:
	VPBROADCASTD   (AX), Y9
	VPMADDUBSW     Y9, Y1, Y9
	VPBROADCASTD   4(AX), Y10
	VPMADDUBSW     Y10, Y2, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   8(AX), Y10
	VPMADDUBSW     Y10, Y3, Y10
	VPADDW         Y10, Y9, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       Y0, Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPBROADCASTD   20(AX), Y11
	VPMADDUBSW     Y11, Y6, Y11
	VPADDW         Y11, Y10, Y10
	VPBROADCASTD   24(AX), Y11
	VPMADDUBSW     Y11, Y7, Y11
	VPADDW         Y11, Y10, Y10
	VPBROADCASTD   28(AX), Y11
	VPMADDUBSW     Y11, Y8, Y11
	VPADDW         Y11, Y10, Y10
	VPMADDWD       Y0, Y10, Y10
	VPADDD         Y10, Y9, Y9
	VCVTDQ2PS      Y9, Y9
	VPBROADCASTD   32(AX), Y10
	VMULPS         Y10, Y9, Y9
	VMULPS         320(BX), Y9, Y9
	VADDPS         (R9), Y9, Y9
	VPBROADCASTD   44(AX), Y10
	VMULPS         352(BX), Y10, Y10
	VSUBPS         Y10, Y9, Y9
	VMOVUPS        Y9, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows6
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	PREFETCHT0     320(R8)
	ADDQ           $0x00000160, R8
	VBROADCASTI128 144(SI), Y1
	VINSERTI128    $0x01, 144(DI), Y1, Y1
	VBROADCASTI128 144(SI)(CX*1), Y2
	VINSERTI128    $0x01, 144(DI)(CX*1), Y2, Y2
	VBROADCASTI128 144(SI)(CX*2), Y3
	VINSERTI128    $0x01, 144(DI)(CX*2), Y3, Y3
	VBROADCASTI128 144(SI)(DX*1), Y4
	VINSERTI128    $0x01, 144(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ     Y2, Y1, Y5
	VPUNPCKHDQ     Y2, Y1, Y6
	VPUNPCKLDQ     Y4, Y3, Y2
	VPUNPCKHDQ     Y4, Y3, Y4
	VPUNPCKLQDQ    Y2, Y5, Y1
	VPUNPCKHQDQ    Y2, Y5, Y2
	VPUNPCKLQDQ    Y4, Y6, Y3
	VPUNPCKHQDQ    Y4, Y6, Y4
	VBROADCASTI128 160(SI), Y5
	VINSERTI128    $0x01, 160(DI), Y5, Y5
	VBROADCASTI128 160(SI)(CX*1), Y6
	VINSERTI128    $0x01, 160(DI)(CX*1), Y6, Y6
	VBROADCASTI128 160(SI)(CX*2), Y7
	VINSERTI128    $0x01, 160(DI)(CX*2), Y7, Y7
	VBROADCASTI128 160(SI)(DX*1), Y8
	VINSERTI128    $0x01, 160(DI)(DX*1), Y8, Y8
	VPUNPCKLDQ     Y6, Y5, Y9
	VPUNPCKHDQ     Y6, Y5, Y10
	VPUNPCKLDQ     Y8, Y7, Y6
	VPUNPCKHDQ     Y8, Y7, Y8
	VPUNPCKLQDQ    Y6, Y9, Y5
	VPUNPCKHQDQ    Y6, Y9, Y6
	VPUNPCKLQDQ    Y8, Y10, Y7
	VPUNPCKHQDQ    Y8, Y10, Y8
	VMOVDQA        Y1, 512(BX)
	VMOVDQA        Y2, 544(BX)
	VMOVDQA        Y3, 576(BX)
	VMOVDQA        Y4, 608(BX)
	VMOVDQA        Y5, 640(BX)
	VMOVDQA        Y6, 672(BX)
	VMOVDQA        Y7, 704(BX)
	VMOVDQA        Y8, 736(BX)
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA        768(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y1, Y1
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA        800(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y2, Y2
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA        832(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y3, Y3
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA        864(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y4, Y4
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA        896(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y5, Y5
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA        928(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y6, Y6
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA        960(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y7, Y7
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA        992(BX), Y9
	VPSRLW         $0x02, Y9, Y9
	VPAND          avx2Sixteens<>+0(SB), Y9, Y9
	VPOR           Y9, Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows7:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 28(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPADDD       Y10, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       384(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       416(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows7
	VMOVDQU      512(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VMOVDQA      768(BX), Y2
	VPSRLW       $0x03, Y2, Y2
	VPAND        avx2Sixteens<>+0(SB), Y2, Y2
	VPOR         Y2, Y1, Y1
	VMOVDQU      544(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VMOVDQA      800(BX), Y3
	VPSRLW       $0x03, Y3, Y3
	VPAND        avx2Sixteens<>+0(SB), Y3, Y3
	VPOR         Y3, Y2, Y2
	VMOVDQU      576(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VMOVDQA      832(BX), Y4
	VPSRLW       $0x03, Y4, Y4
	VPAND        avx2Sixteens<>+0(SB), Y4, Y4
	VPOR         Y4, Y3, Y3
	VMOVDQU      608(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VMOVDQA      864(BX), Y5
	VPSRLW       $0x03, Y5, Y5
	VPAND        avx2Sixteens<>+0(SB), Y5, Y5
	VPOR         Y5, Y4, Y4
	VMOVDQU      640(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VMOVDQA      896(BX), Y6
	VPSRLW       $0x03, Y6, Y6
	VPAND        avx2Sixteens<>+0(SB), Y6, Y6
	VPOR         Y6, Y5, Y5
	VMOVDQU      672(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VMOVDQA      928(BX), Y7
	VPSRLW       $0x03, Y7, Y7
	VPAND        avx2Sixteens<>+0(SB), Y7, Y7
	VPOR         Y7, Y6, Y6
	VMOVDQU      704(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VMOVDQA      960(BX), Y8
	VPSRLW       $0x03, Y8, Y8
	VPAND        avx2Sixteens<>+0(SB), Y8, Y8
	VPOR         Y8, Y7, Y7
	VMOVDQU      736(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VMOVDQA      992(BX), Y9
	VPSRLW       $0x03, Y9, Y9
	VPAND        avx2Sixteens<>+0(SB), Y9, Y9
	VPOR         Y9, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows8:
	VPBROADCASTD (AX), Y9
	VPMADDUBSW   Y9, Y1, Y9
	VPBROADCASTD 4(AX), Y10
	VPMADDUBSW   Y10, Y2, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 8(AX), Y10
	VPMADDUBSW   Y10, Y3, Y10
	VPADDW       Y10, Y9, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     Y0, Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPADDW       Y11, Y10, Y10
	VPBROADCASTD 28(AX), Y11
	VPMADDUBSW   Y11, Y8, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     Y0, Y10, Y10
	VPADDD       Y10, Y9, Y9
	VCVTDQ2PS    Y9, Y9
	VPBROADCASTD 32(AX), Y10
	VMULPS       Y10, Y9, Y9
	VMULPS       448(BX), Y9, Y9
	VADDPS       (R9), Y9, Y9
	VPBROADCASTD 44(AX), Y10
	VMULPS       480(BX), Y10, Y10
	VSUBPS       Y10, Y9, Y9
	VMOVUPS      Y9, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows8
	ADDQ         $0xb0, SI
	ADDQ         $0xb0, DI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmProductQ6_K(acc *float32, w *byte, rowBytes int, x *byte, rows int, blocks int)
// Requires: AVX, AVX2, F16C, MMX+
TEXT ·asmProductQ6_K(SB), $1056-48
	MOVQ     x+24(FP), AX
	MOVQ     rowBytes+16(FP), CX
	MOVQ     w+8(FP), SI
	LEAQ     (CX)(CX*2), DX
	LEAQ     (SI)(CX*4), DI
	LEAQ     8192(SI)(CX*8), R8
	LEAQ     (SP), BX
	ADDQ     $0x1f, BX
	ANDQ     $-32, BX
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	VBROADCASTI128 192(SI), Y0
	VINSERTI128    $0x01, 192(DI), Y0, Y0
	VBROADCASTI128 192(SI)(CX*1), Y1
	VINSERTI128    $0x01, 192(DI)(CX*1), Y1, Y1
	VBROADCASTI128 192(SI)(CX*2), Y2
	VINSERTI128    $0x01, 192(DI)(CX*2), Y2, Y2
	VBROADCASTI128 192(SI)(DX*1), Y3
	VINSERTI128    $0x01, 192(DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VMOVDQA        Y0, (BX)
	VMOVDQA        Y1, 32(BX)
	VMOVDQA        Y2, 64(BX)
	VMOVDQA        Y3, 96(BX)
	VPXOR          X0, X0, X0
	VPINSRW        $0x00, 208(SI), X0, X0
	VPINSRW        $0x01, 208(SI)(CX*1), X0, X0
	VPINSRW        $0x02, 208(SI)(CX*2), X0, X0
	VPINSRW        $0x03, 208(SI)(DX*1), X0, X0
	VPINSRW        $0x04, 208(DI), X0, X0
	VPINSRW        $0x05, 208(DI)(CX*1), X0, X0
	VPINSRW        $0x06, 208(DI)(CX*2), X0, X0
	VPINSRW        $0x07, 208(DI)(DX*1), X0, X0
	VCVTPH2PS      X0, Y0
	VMOVDQA        Y0, 992(BX)
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	PREFETCHT0     320(R8)
	PREFETCHT0     384(R8)
	PREFETCHT0     448(R8)
	PREFETCHT0     512(R8)
	PREFETCHT0     576(R8)
	PREFETCHT0     640(R8)
	PREFETCHT0     704(R8)
	PREFETCHT0     768(R8)
	PREFETCHT0     832(R8)
	ADDQ           $0x00000348, R8
	VBROADCASTI128 (SI), Y0
	VINSERTI128    $0x01, (DI), Y0, Y0
	VBROADCASTI128 (SI)(CX*1), Y1
	VINSERTI128    $0x01, (DI)(CX*1), Y1, Y1
	VBROADCASTI128 (SI)(CX*2), Y2
	VINSERTI128    $0x01, (DI)(CX*2), Y2, Y2
	VBROADCASTI128 (SI)(DX*1), Y3
	VINSERTI128    $0x01, (DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VBROADCASTI128 16(SI), Y4
	VINSERTI128    $0x01, 16(DI), Y4, Y4
	VBROADCASTI128 16(SI)(CX*1), Y5
	VINSERTI128    $0x01, 16(DI)(CX*1), Y5, Y5
	VBROADCASTI128 16(SI)(CX*2), Y6
	VINSERTI128    $0x01, 16(DI)(CX*2), Y6, Y6
	VBROADCASTI128 16(SI)(DX*1), Y7
	VINSERTI128    $0x01, 16(DI)(DX*1), Y7, Y7
	VPUNPCKLDQ     Y5, Y4, Y8
	VPUNPCKHDQ     Y5, Y4, Y9
	VPUNPCKLDQ     Y7, Y6, Y5
	VPUNPCKHDQ     Y7, Y6, Y7
	VPUNPCKLQDQ    Y5, Y8, Y4
	VPUNPCKHQDQ    Y5, Y8, Y5
	VPUNPCKLQDQ    Y7, Y9, Y6
	VPUNPCKHQDQ    Y7, Y9, Y7
	VMOVDQA        Y0, 128(BX)
	VMOVDQA        Y1, 160(BX)
	VMOVDQA        Y2, 192(BX)
	VMOVDQA        Y3, 224(BX)
	VMOVDQA        Y4, 256(BX)
	VMOVDQA        Y5, 288(BX)
	VMOVDQA        Y6, 320(BX)
	VMOVDQA        Y7, 352(BX)
	VBROADCASTI128 32(SI), Y0
	VINSERTI128    $0x01, 32(DI), Y0, Y0
	VBROADCASTI128 32(SI)(CX*1), Y1
	VINSERTI128    $0x01, 32(DI)(CX*1), Y1, Y1
	VBROADCASTI128 32(SI)(CX*2), Y2
	VINSERTI128    $0x01, 32(DI)(CX*2), Y2, Y2
	VBROADCASTI128 32(SI)(DX*1), Y3
	VINSERTI128    $0x01, 32(DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VBROADCASTI128 48(SI), Y4
	VINSERTI128    $0x01, 48(DI), Y4, Y4
	VBROADCASTI128 48(SI)(CX*1), Y5
	VINSERTI128    $0x01, 48(DI)(CX*1), Y5, Y5
	VBROADCASTI128 48(SI)(CX*2), Y6
	VINSERTI128    $0x01, 48(DI)(CX*2), Y6, Y6
	VBROADCASTI128 48(SI)(DX*1), Y7
	VINSERTI128    $0x01, 48(DI)(DX*1), Y7, Y7
	VPUNPCKLDQ     Y5, Y4, Y8
	VPUNPCKHDQ     Y5, Y4, Y9
	VPUNPCKLDQ     Y7, Y6, Y5
	VPUNPCKHDQ     Y7, Y6, Y7
	VPUNPCKLQDQ    Y5, Y8, Y4
	VPUNPCKHQDQ    Y5, Y8, Y5
	VPUNPCKLQDQ    Y7, Y9, Y6
	VPUNPCKHQDQ    Y7, Y9, Y7
	VMOVDQA        Y0, 384(BX)
	VMOVDQA        Y1, 416(BX)
	VMOVDQA        Y2, 448(BX)
	VMOVDQA        Y3, 480(BX)
	VMOVDQA        Y4, 512(BX)
	VMOVDQA        Y5, 544(BX)
	VMOVDQA        Y6, 576(BX)
	VMOVDQA        Y7, 608(BX)
	VBROADCASTI128 128(SI), Y0
	VINSERTI128    $0x01, 128(DI), Y0, Y0
	VBROADCASTI128 128(SI)(CX*1), Y1
	VINSERTI128    $0x01, 128(DI)(CX*1), Y1, Y1
	VBROADCASTI128 128(SI)(CX*2), Y2
	VINSERTI128    $0x01, 128(DI)(CX*2), Y2, Y2
	VBROADCASTI128 128(SI)(DX*1), Y3
	VINSERTI128    $0x01, 128(DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VBROADCASTI128 144(SI), Y4
	VINSERTI128    $0x01, 144(DI), Y4, Y4
	VBROADCASTI128 144(SI)(CX*1), Y5
	VINSERTI128    $0x01, 144(DI)(CX*1), Y5, Y5
	VBROADCASTI128 144(SI)(CX*2), Y6
	VINSERTI128    $0x01, 144(DI)(CX*2), Y6, Y6
	VBROADCASTI128 144(SI)(DX*1), Y7
	VINSERTI128    $0x01, 144(DI)(DX*1), Y7, Y7
	VPUNPCKLDQ     Y5, Y4, Y8
	VPUNPCKHDQ     Y5, Y4, Y9
	VPUNPCKLDQ     Y7, Y6, Y5
	VPUNPCKHDQ     Y7, Y6, Y7
	VPUNPCKLQDQ    Y5, Y8, Y4
	VPUNPCKHQDQ    Y5, Y8, Y5
	VPUNPCKLQDQ    Y7, Y9, Y6
	VPUNPCKHQDQ    Y7, Y9, Y7
	VMOVDQA        Y0, 640(BX)
	VMOVDQA        Y1, 672(BX)
	VMOVDQA        Y2, 704(BX)
	VMOVDQA        Y3, 736(BX)
	VMOVDQA        Y4, 768(BX)
	VMOVDQA        Y5, 800(BX)
	VMOVDQA        Y6, 832(BX)
	VMOVDQA        Y7, 864(BX)
	VMOVDQA        (BX), Y0
	VPSHUFB        avx2FirstScale0<>+0(SB), Y0, Y1
	VPSRAW         $0x08, Y1, Y1
	VMOVDQA        Y1, 896(BX)
	VPSHUFB        avx2LastScale0<>+0(SB), Y0, Y1
	VPSRAW         $0x08, Y1, Y1
	VMOVDQA        Y1, 928(BX)
	VPSHUFB        avx2BothScales0<>+0(SB), Y0, Y0
	VPSRAW         $0x08, Y0, Y0
	VMOVDQA        Y0, 960(BX)
	VMOVDQA        640(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        128(BX), Y1
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR           Y0, Y1, Y1
	VMOVDQA        672(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        160(BX), Y2
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR           Y0, Y2, Y2
	VMOVDQA        704(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        192(BX), Y3
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR           Y0, Y3, Y3
	VMOVDQA        736(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        224(BX), Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR           Y0, Y4, Y4
	VMOVDQA        768(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        256(BX), Y5
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR           Y0, Y5, Y5
	VMOVDQA        800(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        288(BX), Y6
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR           Y0, Y6, Y6
	VMOVDQA        832(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        320(BX), Y7
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR           Y0, Y7, Y7
	VMOVDQA        864(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        352(BX), Y8
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR           Y0, Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows1:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows1
	VMOVDQA      (BX), Y0
	VPSHUFB      avx2FirstScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 896(BX)
	VPSHUFB      avx2LastScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 928(BX)
	VPSHUFB      avx2BothScales1<>+0(SB), Y0, Y0
	VPSRAW       $0x08, Y0, Y0
	VMOVDQA      Y0, 960(BX)
	VMOVDQA      640(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      384(BX), Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR         Y0, Y1, Y1
	VMOVDQA      672(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      416(BX), Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR         Y0, Y2, Y2
	VMOVDQA      704(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      448(BX), Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR         Y0, Y3, Y3
	VMOVDQA      736(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      480(BX), Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR         Y0, Y4, Y4
	VMOVDQA      768(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      512(BX), Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR         Y0, Y5, Y5
	VMOVDQA      800(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      544(BX), Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR         Y0, Y6, Y6
	VMOVDQA      832(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      576(BX), Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR         Y0, Y7, Y7
	VMOVDQA      864(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      608(BX), Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR         Y0, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows2:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows2
	VMOVDQA      32(BX), Y0
	VPSHUFB      avx2FirstScale0<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 896(BX)
	VPSHUFB      avx2LastScale0<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 928(BX)
	VPSHUFB      avx2BothScales0<>+0(SB), Y0, Y0
	VPSRAW       $0x08, Y0, Y0
	VMOVDQA      Y0, 960(BX)
	VMOVDQA      640(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      128(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR         Y0, Y1, Y1
	VMOVDQA      672(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      160(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR         Y0, Y2, Y2
	VMOVDQA      704(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      192(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR         Y0, Y3, Y3
	VMOVDQA      736(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      224(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR         Y0, Y4, Y4
	VMOVDQA      768(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      256(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR         Y0, Y5, Y5
	VMOVDQA      800(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      288(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR         Y0, Y6, Y6
	VMOVDQA      832(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      320(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR         Y0, Y7, Y7
	VMOVDQA      864(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      352(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR         Y0, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows3:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows3
	VMOVDQA      32(BX), Y0
	VPSHUFB      avx2FirstScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 896(BX)
	VPSHUFB      avx2LastScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 928(BX)
	VPSHUFB      avx2BothScales1<>+0(SB), Y0, Y0
	VPSRAW       $0x08, Y0, Y0
	VMOVDQA      Y0, 960(BX)
	VMOVDQA      640(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      384(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR         Y0, Y1, Y1
	VMOVDQA      672(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      416(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR         Y0, Y2, Y2
	VMOVDQA      704(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      448(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR         Y0, Y3, Y3
	VMOVDQA      736(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      480(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR         Y0, Y4, Y4
	VMOVDQA      768(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      512(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR         Y0, Y5, Y5
	VMOVDQA      800(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      544(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR         Y0, Y6, Y6
	VMOVDQA      832(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      576(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR         Y0, Y7, Y7
	VMOVDQA      864(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      608(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR         Y0, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows4:
	VPBROADCASTD   (AX), Y0
	VPMADDUBSW     Y0, Y1, Y0
	VPBROADCASTD   4(AX), Y9
	VPMADDUBSW     Y9, Y2, Y9
	VPADDW         Y9, Y0, Y0
	VPMADDWD       896(BX), Y0, Y0
	VPBROADCASTD   8(AX), Y9
	VPMADDUBSW     Y9, Y3, Y9
	VPBROADCASTD   12(AX), Y10
	VPMADDUBSW     Y10, Y4, Y10
	VPADDW         Y10, Y9, Y9
	VPMADDWD       896(BX), Y9, Y9
	VPBROADCASTD   16(AX), Y10
	VPMADDUBSW     Y10, Y5, Y10
	VPBROADCASTD   20(AX), Y11
	VPMADDUBSW     Y11, Y6, Y11
	VPADDW         Y11, Y10, Y10
	VPMADDWD       928(BX), Y10, Y10
	VPBROADCASTD   24(AX), Y11
	VPMADDUBSW     Y11, Y7, Y11
	VPBROADCASTD   28(AX), Y12
	VPMADDUBSW     Y12, Y8, Y12
	VPADDW         Y12, Y11, Y11
	VPMADDWD       928(BX), Y11, Y11
	VPADDD         Y9, Y0, Y0
	VPADDD         Y11, Y10, Y10
	VPADDD         Y10, Y0, Y0
	VPBROADCASTD   36(AX), Y9
	VPMADDWD       960(BX), Y9, Y9
	VPSLLD         $0x05, Y9, Y9
	VPSUBD         Y9, Y0, Y0
	VCVTDQ2PS      Y0, Y0
	VPBROADCASTD   32(AX), Y9
	VMULPS         Y9, Y0, Y0
	VMULPS         992(BX), Y0, Y0
	VADDPS         (R9), Y0, Y0
	VMOVUPS        Y0, (R9)
	ADDQ           $0x30, AX
	ADDQ           $0x20, R9
	DECQ           R10
	JNZ            rows4
	PREFETCHT0     (R8)
	PREFETCHT0     64(R8)
	PREFETCHT0     128(R8)
	PREFETCHT0     192(R8)
	PREFETCHT0     256(R8)
	PREFETCHT0     320(R8)
	PREFETCHT0     384(R8)
	PREFETCHT0     448(R8)
	PREFETCHT0     512(R8)
	PREFETCHT0     576(R8)
	PREFETCHT0     640(R8)
	PREFETCHT0     704(R8)
	PREFETCHT0     768(R8)
	PREFETCHT0     832(R8)
	ADDQ           $0x00000348, R8
	VBROADCASTI128 64(SI), Y0
	VINSERTI128    $0x01, 64(DI), Y0, Y0
	VBROADCASTI128 64(SI)(CX*1), Y1
	VINSERTI128    $0x01, 64(DI)(CX*1), Y1, Y1
	VBROADCASTI128 64(SI)(CX*2), Y2
	VINSERTI128    $0x01, 64(DI)(CX*2), Y2, Y2
	VBROADCASTI128 64(SI)(DX*1), Y3
	VINSERTI128    $0x01, 64(DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VBROADCASTI128 80(SI), Y4
	VINSERTI128    $0x01, 80(DI), Y4, Y4
	VBROADCASTI128 80(SI)(CX*1), Y5
	VINSERTI128    $0x01, 80(DI)(CX*1), Y5, Y5
	VBROADCASTI128 80(SI)(CX*2), Y6
	VINSERTI128    $0x01, 80(DI)(CX*2), Y6, Y6
	VBROADCASTI128 80(SI)(DX*1), Y7
	VINSERTI128    $0x01, 80(DI)(DX*1), Y7, Y7
	VPUNPCKLDQ     Y5, Y4, Y8
	VPUNPCKHDQ     Y5, Y4, Y9
	VPUNPCKLDQ     Y7, Y6, Y5
	VPUNPCKHDQ     Y7, Y6, Y7
	VPUNPCKLQDQ    Y5, Y8, Y4
	VPUNPCKHQDQ    Y5, Y8, Y5
	VPUNPCKLQDQ    Y7, Y9, Y6
	VPUNPCKHQDQ    Y7, Y9, Y7
	VMOVDQA        Y0, 128(BX)
	VMOVDQA        Y1, 160(BX)
	VMOVDQA        Y2, 192(BX)
	VMOVDQA        Y3, 224(BX)
	VMOVDQA        Y4, 256(BX)
	VMOVDQA        Y5, 288(BX)
	VMOVDQA        Y6, 320(BX)
	VMOVDQA        Y7, 352(BX)
	VBROADCASTI128 96(SI), Y0
	VINSERTI128    $0x01, 96(DI), Y0, Y0
	VBROADCASTI128 96(SI)(CX*1), Y1
	VINSERTI128    $0x01, 96(DI)(CX*1), Y1, Y1
	VBROADCASTI128 96(SI)(CX*2), Y2
	VINSERTI128    $0x01, 96(DI)(CX*2), Y2, Y2
	VBROADCASTI128 96(SI)(DX*1), Y3
	VINSERTI128    $0x01, 96(DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VBROADCASTI128 112(SI), Y4
	VINSERTI128    $0x01, 112(DI), Y4, Y4
	VBROADCASTI128 112(SI)(CX*1), Y5
	VINSERTI128    $0x01, 112(DI)(CX*1), Y5, Y5
	VBROADCASTI128 112(SI)(CX*2), Y6
	VINSERTI128    $0x01, 112(DI)(CX*2), Y6, Y6
	VBROADCASTI128 112(SI)(DX*1), Y7
	VINSERTI128    $0x01, 112(DI)(DX*1), Y7, Y7
	VPUNPCKLDQ     Y5, Y4, Y8
	VPUNPCKHDQ     Y5, Y4, Y9
	VPUNPCKLDQ     Y7, Y6, Y5
	VPUNPCKHDQ     Y7, Y6, Y7
	VPUNPCKLQDQ    Y5, Y8, Y4
	VPUNPCKHQDQ    Y5, Y8, Y5
	VPUNPCKLQDQ    Y7, Y9, Y6
	VPUNPCKHQDQ    Y7, Y9, Y7
	VMOVDQA        Y0, 384(BX)
	VMOVDQA        Y1, 416(BX)
	VMOVDQA        Y2, 448(BX)
	VMOVDQA        Y3, 480(BX)
	VMOVDQA        Y4, 512(BX)
	VMOVDQA        Y5, 544(BX)
	VMOVDQA        Y6, 576(BX)
	VMOVDQA        Y7, 608(BX)
	VBROADCASTI128 160(SI), Y0
	VINSERTI128    $0x01, 160(DI), Y0, Y0
	VBROADCASTI128 160(SI)(CX*1), Y1
	VINSERTI128    $0x01, 160(DI)(CX*1), Y1, Y1
	VBROADCASTI128 160(SI)(CX*2), Y2
	VINSERTI128    $0x01, 160(DI)(CX*2), Y2, Y2
	VBROADCASTI128 160(SI)(DX*1), Y3
	VINSERTI128    $0x01, 160(DI)(DX*1), Y3, Y3
	VPUNPCKLDQ     Y1, Y0, Y4
	VPUNPCKHDQ     Y1, Y0, Y5
	VPUNPCKLDQ     Y3, Y2, Y1
	VPUNPCKHDQ     Y3, Y2, Y3
	VPUNPCKLQDQ    Y1, Y4, Y0
	VPUNPCKHQDQ    Y1, Y4, Y1
	VPUNPCKLQDQ    Y3, Y5, Y2
	VPUNPCKHQDQ    Y3, Y5, Y3
	VBROADCASTI128 176(SI), Y4
	VINSERTI128    $0x01, 176(DI), Y4, Y4
	VBROADCASTI128 176(SI)(CX*1), Y5
	VINSERTI128    $0x01, 176(DI)(CX*1), Y5, Y5
	VBROADCASTI128 176(SI)(CX*2), Y6
	VINSERTI128    $0x01, 176(DI)(CX*2), Y6, Y6
	VBROADCASTI128 176(SI)(DX*1), Y7
	VINSERTI128    $0x01, 176(DI)(DX*1), Y7, Y7
	VPUNPCKLDQ     Y5, Y4, Y8
	VPUNPCKHDQ     Y5, Y4, Y9
	VPUNPCKLDQ     Y7, Y6, Y5
	VPUNPCKHDQ     Y7, Y6, Y7
	VPUNPCKLQDQ    Y5, Y8, Y4
	VPUNPCKHQDQ    Y5, Y8, Y5
	VPUNPCKLQDQ    Y7, Y9, Y6
	VPUNPCKHQDQ    Y7, Y9, Y7
	VMOVDQA        Y0, 640(BX)
	VMOVDQA        Y1, 672(BX)
	VMOVDQA        Y2, 704(BX)
	VMOVDQA        Y3, 736(BX)
	VMOVDQA        Y4, 768(BX)
	VMOVDQA        Y5, 800(BX)
	VMOVDQA        Y6, 832(BX)
	VMOVDQA        Y7, 864(BX)
	VMOVDQA        64(BX), Y0
	VPSHUFB        avx2FirstScale0<>+0(SB), Y0, Y1
	VPSRAW         $0x08, Y1, Y1
	VMOVDQA        Y1, 896(BX)
	VPSHUFB        avx2LastScale0<>+0(SB), Y0, Y1
	VPSRAW         $0x08, Y1, Y1
	VMOVDQA        Y1, 928(BX)
	VPSHUFB        avx2BothScales0<>+0(SB), Y0, Y0
	VPSRAW         $0x08, Y0, Y0
	VMOVDQA        Y0, 960(BX)
	VMOVDQA        640(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        128(BX), Y1
	VPAND          avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR           Y0, Y1, Y1
	VMOVDQA        672(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        160(BX), Y2
	VPAND          avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR           Y0, Y2, Y2
	VMOVDQA        704(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        192(BX), Y3
	VPAND          avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR           Y0, Y3, Y3
	VMOVDQA        736(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        224(BX), Y4
	VPAND          avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR           Y0, Y4, Y4
	VMOVDQA        768(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        256(BX), Y5
	VPAND          avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR           Y0, Y5, Y5
	VMOVDQA        800(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        288(BX), Y6
	VPAND          avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR           Y0, Y6, Y6
	VMOVDQA        832(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        320(BX), Y7
	VPAND          avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR           Y0, Y7, Y7
	VMOVDQA        864(BX), Y0
	VPSLLW         $0x04, Y0, Y0
	VPAND          avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA        352(BX), Y8
	VPAND          avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR           Y0, Y8, Y8
	MOVQ           acc+0(FP), R9
	MOVQ           rows+32(FP), R10

rows5:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows5
	VMOVDQA      64(BX), Y0
	VPSHUFB      avx2FirstScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 896(BX)
	VPSHUFB      avx2LastScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 928(BX)
	VPSHUFB      avx2BothScales1<>+0(SB), Y0, Y0
	VPSRAW       $0x08, Y0, Y0
	VMOVDQA      Y0, 960(BX)
	VMOVDQA      640(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      384(BX), Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR         Y0, Y1, Y1
	VMOVDQA      672(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      416(BX), Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR         Y0, Y2, Y2
	VMOVDQA      704(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      448(BX), Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR         Y0, Y3, Y3
	VMOVDQA      736(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      480(BX), Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR         Y0, Y4, Y4
	VMOVDQA      768(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      512(BX), Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR         Y0, Y5, Y5
	VMOVDQA      800(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      544(BX), Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR         Y0, Y6, Y6
	VMOVDQA      832(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      576(BX), Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR         Y0, Y7, Y7
	VMOVDQA      864(BX), Y0
	VPSLLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQA      608(BX), Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR         Y0, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows6:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows6
	VMOVDQA      96(BX), Y0
	VPSHUFB      avx2FirstScale0<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 896(BX)
	VPSHUFB      avx2LastScale0<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 928(BX)
	VPSHUFB      avx2BothScales0<>+0(SB), Y0, Y0
	VPSRAW       $0x08, Y0, Y0
	VMOVDQA      Y0, 960(BX)
	VMOVDQA      640(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      128(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR         Y0, Y1, Y1
	VMOVDQA      672(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      160(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR         Y0, Y2, Y2
	VMOVDQA      704(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      192(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR         Y0, Y3, Y3
	VMOVDQA      736(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      224(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR         Y0, Y4, Y4
	VMOVDQA      768(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      256(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR         Y0, Y5, Y5
	VMOVDQA      800(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      288(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR         Y0, Y6, Y6
	VMOVDQA      832(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      320(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR         Y0, Y7, Y7
	VMOVDQA      864(BX), Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      352(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR         Y0, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows7:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows7
	VMOVDQA      96(BX), Y0
	VPSHUFB      avx2FirstScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 896(BX)
	VPSHUFB      avx2LastScale1<>+0(SB), Y0, Y1
	VPSRAW       $0x08, Y1, Y1
	VMOVDQA      Y1, 928(BX)
	VPSHUFB      avx2BothScales1<>+0(SB), Y0, Y0
	VPSRAW       $0x08, Y0, Y0
	VMOVDQA      Y0, 960(BX)
	VMOVDQA      640(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      384(BX), Y1
	VPSRLW       $0x04, Y1, Y1
	VPAND        avx2LowNibbles<>+0(SB), Y1, Y1
	VPOR         Y0, Y1, Y1
	VMOVDQA      672(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      416(BX), Y2
	VPSRLW       $0x04, Y2, Y2
	VPAND        avx2LowNibbles<>+0(SB), Y2, Y2
	VPOR         Y0, Y2, Y2
	VMOVDQA      704(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      448(BX), Y3
	VPSRLW       $0x04, Y3, Y3
	VPAND        avx2LowNibbles<>+0(SB), Y3, Y3
	VPOR         Y0, Y3, Y3
	VMOVDQA      736(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      480(BX), Y4
	VPSRLW       $0x04, Y4, Y4
	VPAND        avx2LowNibbles<>+0(SB), Y4, Y4
	VPOR         Y0, Y4, Y4
	VMOVDQA      768(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      512(BX), Y5
	VPSRLW       $0x04, Y5, Y5
	VPAND        avx2LowNibbles<>+0(SB), Y5, Y5
	VPOR         Y0, Y5, Y5
	VMOVDQA      800(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      544(BX), Y6
	VPSRLW       $0x04, Y6, Y6
	VPAND        avx2LowNibbles<>+0(SB), Y6, Y6
	VPOR         Y0, Y6, Y6
	VMOVDQA      832(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      576(BX), Y7
	VPSRLW       $0x04, Y7, Y7
	VPAND        avx2LowNibbles<>+0(SB), Y7, Y7
	VPOR         Y0, Y7, Y7
	VMOVDQA      864(BX), Y0
	VPSRLW       $0x02, Y0, Y0
	VPAND        avx2Bits4And5<>+0(SB), Y0, Y0
	VMOVDQU      608(BX), Y8
	VPSRLW       $0x04, Y8, Y8
	VPAND        avx2LowNibbles<>+0(SB), Y8, Y8
	VPOR         Y0, Y8, Y8
	MOVQ         acc+0(FP), R9
	MOVQ         rows+32(FP), R10

rows8:
	VPBROADCASTD (AX), Y0
	VPMADDUBSW   Y0, Y1, Y0
	VPBROADCASTD 4(AX), Y9
	VPMADDUBSW   Y9, Y2, Y9
	VPADDW       Y9, Y0, Y0
	VPMADDWD     896(BX), Y0, Y0
	VPBROADCASTD 8(AX), Y9
	VPMADDUBSW   Y9, Y3, Y9
	VPBROADCASTD 12(AX), Y10
	VPMADDUBSW   Y10, Y4, Y10
	VPADDW       Y10, Y9, Y9
	VPMADDWD     896(BX), Y9, Y9
	VPBROADCASTD 16(AX), Y10
	VPMADDUBSW   Y10, Y5, Y10
	VPBROADCASTD 20(AX), Y11
	VPMADDUBSW   Y11, Y6, Y11
	VPADDW       Y11, Y10, Y10
	VPMADDWD     928(BX), Y10, Y10
	VPBROADCASTD 24(AX), Y11
	VPMADDUBSW   Y11, Y7, Y11
	VPBROADCASTD 28(AX), Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPADDW       Y12, Y11, Y11
	VPMADDWD     928(BX), Y11, Y11
	VPADDD       Y9, Y0, Y0
	VPADDD       Y11, Y10, Y10
	VPADDD       Y10, Y0, Y0
	VPBROADCASTD 36(AX), Y9
	VPMADDWD     960(BX), Y9, Y9
	VPSLLD       $0x05, Y9, Y9
	VPSUBD       Y9, Y0, Y0
	VCVTDQ2PS    Y0, Y0
	VPBROADCASTD 32(AX), Y9
	VMULPS       Y9, Y0, Y0
	VMULPS       992(BX), Y0, Y0
	VADDPS       (R9), Y0, Y0
	VMOVUPS      Y0, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows8
	ADDQ         $0xd2, SI
	ADDQ         $0xd2, DI
	DECQ         blocks+40(FP)
	JNZ          blocks
	VZEROUPPER
	RET

// func asmEncodeHalf(dst *byte, src *float32, blocks int)
// Requires: AVX, F16C
TEXT ·asmEncodeHalf(SB), NOSPLIT, $0-24
	MOVQ  dst+0(FP), AX
	MOVQ  src+8(FP), CX
	MOVQ  blocks+16(FP), DX
	TESTQ DX, DX
	JZ    done

loop:
	VMOVUPS   (CX), Y0
	VCVTPS2PH $0x00, Y0, (AX)
	ADDQ      $0x20, CX
	ADDQ      $0x10, AX
	DECQ      DX
	JNZ       loop

done:
	VZEROUPPER
	RET

// func asmMix_3x4(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmMix_3x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), CX
	LEAQ    (CX)(AX*4), DX
	LEAQ    (DX)(AX*4), AX
	MOVQ    pStride+24(FP), BX
	MOVQ    p+16(FP), SI
	LEAQ    (SI)(BX*4), DI
	LEAQ    (DI)(BX*4), BX
	MOVQ    v+32(FP), R8
	MOVQ    vStride+40(FP), R9
	MOVQ    n+48(FP), R10
	VMOVUPS (CX), Y0
	VMOVUPS 32(CX), Y1
	VMOVUPS 64(CX), Y2
	VMOVUPS 96(CX), Y3
	VMOVUPS (DX), Y4
	VMOVUPS 32(DX), Y5
	VMOVUPS 64(DX), Y6
	VMOVUPS 96(DX), Y7
	VMOVUPS (AX), Y8
	VMOVUPS 32(AX), Y9
	VMOVUPS 64(AX), Y10
	VMOVUPS 96(AX), Y11
	XORQ    R11, R11
	TESTQ   R10, R10
	JZ      done

loop:
	VBROADCASTSS (SI)(R11*4), Y12
	VBROADCASTSS (DI)(R11*4), Y13
	VBROADCASTSS (BX)(R11*4), Y14
	VMOVUPS      (R8), Y15
	VFMADD231PS  Y15, Y12, Y0
	VFMADD231PS  Y15, Y13, Y4
	VFMADD231PS  Y15, Y14, Y8
	VMOVUPS      32(R8), Y15
	VFMADD231PS  Y15, Y12, Y1
	VFMADD231PS  Y15, Y13, Y5
	VFMADD231PS  Y15, Y14, Y9
	VMOVUPS      64(R8), Y15
	VFMADD231PS  Y15, Y12, Y2
	VFMADD231PS  Y15, Y13, Y6
	VFMADD231PS  Y15, Y14, Y10
	VMOVUPS      96(R8), Y15
	VFMADD231PS  Y15, Y12, Y3
	VFMADD231PS  Y15, Y13, Y7
	VFMADD231PS  Y15, Y14, Y11
	LEAQ         (R8)(R9*4), R8
	INCQ         R11
	CMPQ         R11, R10
	JB           loop

done:
	VMOVUPS Y0, (CX)
	VMOVUPS Y1, 32(CX)
	VMOVUPS Y2, 64(CX)
	VMOVUPS Y3, 96(CX)
	VMOVUPS Y4, (DX)
	VMOVUPS Y5, 32(DX)
	VMOVUPS Y6, 64(DX)
	VMOVUPS Y7, 96(DX)
	VMOVUPS Y8, (AX)
	VMOVUPS Y9, 32(AX)
	VMOVUPS Y10, 64(AX)
	VMOVUPS Y11, 96(AX)
	VZEROUPPER
	RET

// func asmMix_2x4(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmMix_2x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), CX
	LEAQ    (CX)(AX*4), AX
	MOVQ    pStride+24(FP), DX
	MOVQ    p+16(FP), BX
	LEAQ    (BX)(DX*4), DX
	MOVQ    v+32(FP), SI
	MOVQ    vStride+40(FP), DI
	MOVQ    n+48(FP), R8
	VMOVUPS (CX), Y0
	VMOVUPS 32(CX), Y1
	VMOVUPS 64(CX), Y2
	VMOVUPS 96(CX), Y3
	VMOVUPS (AX), Y4
	VMOVUPS 32(AX), Y5
	VMOVUPS 64(AX), Y6
	VMOVUPS 96(AX), Y7
	XORQ    R9, R9
	TESTQ   R8, R8
	JZ      done

loop:
	VBROADCASTSS (BX)(R9*4), Y8
	VBROADCASTSS (DX)(R9*4), Y9
	VMOVUPS      (SI), Y10
	VFMADD231PS  Y10, Y8, Y0
	VFMADD231PS  Y10, Y9, Y4
	VMOVUPS      32(SI), Y10
	VFMADD231PS  Y10, Y8, Y1
	VFMADD231PS  Y10, Y9, Y5
	VMOVUPS      64(SI), Y10
	VFMADD231PS  Y10, Y8, Y2
	VFMADD231PS  Y10, Y9, Y6
	VMOVUPS      96(SI), Y10
	VFMADD231PS  Y10, Y8, Y3
	VFMADD231PS  Y10, Y9, Y7
	LEAQ         (SI)(DI*4), SI
	INCQ         R9
	CMPQ         R9, R8
	JB           loop

done:
	VMOVUPS Y0, (CX)
	VMOVUPS Y1, 32(CX)
	VMOVUPS Y2, 64(CX)
	VMOVUPS Y3, 96(CX)
	VMOVUPS Y4, (AX)
	VMOVUPS Y5, 32(AX)
	VMOVUPS Y6, 64(AX)
	VMOVUPS Y7, 96(AX)
	VZEROUPPER
	RET

// func asmMix_1x8(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmMix_1x8(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    vStride+40(FP), BX
	MOVQ    n+48(FP), SI
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	VMOVUPS 64(AX), Y2
	VMOVUPS 96(AX), Y3
	VMOVUPS 128(AX), Y4
	VMOVUPS 160(AX), Y5
	VMOVUPS 192(AX), Y6
	VMOVUPS 224(AX), Y7
	XORQ    DI, DI
	TESTQ   SI, SI
	JZ      done

loop:
	VBROADCASTSS (CX)(DI*4), Y8
	VFMADD231PS  (DX), Y8, Y0
	VFMADD231PS  32(DX), Y8, Y1
	VFMADD231PS  64(DX), Y8, Y2
	VFMADD231PS  96(DX), Y8, Y3
	VFMADD231PS  128(DX), Y8, Y4
	VFMADD231PS  160(DX), Y8, Y5
	VFMADD231PS  192(DX), Y8, Y6
	VFMADD231PS  224(DX), Y8, Y7
	LEAQ         (DX)(BX*4), DX
	INCQ         DI
	CMPQ         DI, SI
	JB           loop

done:
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VMOVUPS Y3, 96(AX)
	VMOVUPS Y4, 128(AX)
	VMOVUPS Y5, 160(AX)
	VMOVUPS Y6, 192(AX)
	VMOVUPS Y7, 224(AX)
	VZEROUPPER
	RET

// func asmMix_1x4(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmMix_1x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    vStride+40(FP), BX
	MOVQ    n+48(FP), SI
	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
	VMOVUPS 64(AX), Y2
	VMOVUPS 96(AX), Y3
	XORQ    DI, DI
	TESTQ   SI, SI
	JZ      done

loop:
	VBROADCASTSS (CX)(DI*4), Y4
	VFMADD231PS  (DX), Y4, Y0
	VFMADD231PS  32(DX), Y4, Y1
	VFMADD231PS  64(DX), Y4, Y2
	VFMADD231PS  96(DX), Y4, Y3
	LEAQ         (DX)(BX*4), DX
	INCQ         DI
	CMPQ         DI, SI
	JB           loop

done:
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VMOVUPS Y3, 96(AX)
	VZEROUPPER
	RET

// func asmMix_1x1(out *float32, outStride int, p *float32, pStride int, v *float32, vStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmMix_1x1(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    vStride+40(FP), BX
	MOVQ    n+48(FP), SI
	VMOVUPS (AX), Y0
	XORQ    DI, DI
	TESTQ   SI, SI
	JZ      done

loop:
	VBROADCASTSS (CX)(DI*4), Y1
	VFMADD231PS  (DX), Y1, Y0
	LEAQ         (DX)(BX*4), DX
	INCQ         DI
	CMPQ         DI, SI
	JB           loop

done:
	VMOVUPS Y0, (AX)
	VZEROUPPER
	RET

// func asmMixTail(out *float32, columns int, p *float32, v *float32, vStride int, n int)
// Requires: AVX, FMA3
TEXT ·asmMixTail(SB), NOSPLIT, $0-48
	MOVQ       columns+8(FP), AX
	ANDQ       $0x07, AX
	NEGQ       AX
	LEAQ       avx2Masks<>+0(SB), CX
	VMOVUPS    32(CX)(AX*4), Y0
	MOVQ       out+0(FP), AX
	MOVQ       p+16(FP), CX
	MOVQ       v+24(FP), DX
	MOVQ       vStride+32(FP), BX
	MOVQ       n+40(FP), SI
	VMASKMOVPS (AX), Y0, Y1
	TESTQ      SI, SI
	JZ         done

loop:
	VBROADCASTSS (CX), Y3
	VMASKMOVPS   (DX), Y0, Y2
	VFMADD231PS  Y2, Y3, Y1
	ADDQ         $0x04, CX
	LEAQ         (DX)(BX*4), DX
	DECQ         SI
	JNZ          loop

done:
	VMASKMOVPS Y1, Y0, (AX)
	VZEROUPPER
	RET

// func asmTurnF32(dst *float32, dstBytes int, src *byte, srcBytes int, blocks int)
// Requires: AVX
TEXT ·asmTurnF32(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), AX
	MOVQ dstBytes+8(FP), CX
	MOVQ src+16(FP), DX
	MOVQ srcBytes+24(FP), BX
	MOVQ blocks+32(FP), SI
	LEAQ (CX)(CX*2), DI
	LEAQ (BX)(BX*2), R8
	LEAQ (DX)(BX*4), R10

loop:
	LEAQ       (AX)(CX*4), R9
	VMOVUPS    (DX), Y0
	VMOVUPS    (DX)(BX*1), Y2
	VMOVUPS    (DX)(BX*2), Y4
	VMOVUPS    (DX)(R8*1), Y5
	VUNPCKLPS  Y2, Y0, Y1
	VUNPCKHPS  Y2, Y0, Y3
	VUNPCKLPS  Y5, Y4, Y2
	VUNPCKHPS  Y5, Y4, Y5
	VUNPCKLPD  Y2, Y1, Y0
	VUNPCKHPD  Y2, Y1, Y2
	VUNPCKLPD  Y5, Y3, Y4
	VUNPCKHPD  Y5, Y3, Y5
	VMOVUPS    (R10), Y1
	VMOVUPS    (R10)(BX*1), Y6
	VMOVUPS    (R10)(BX*2), Y8
	VMOVUPS    (R10)(R8*1), Y9
	VUNPCKLPS  Y6, Y1, Y3
	VUNPCKHPS  Y6, Y1, Y7
	VUNPCKLPS  Y9, Y8, Y6
	VUNPCKHPS  Y9, Y8, Y9
	VUNPCKLPD  Y6, Y3, Y1
	VUNPCKHPD  Y6, Y3, Y6
	VUNPCKLPD  Y9, Y7, Y8
	VUNPCKHPD  Y9, Y7, Y9
	VPERM2F128 $0x20, Y1, Y0, Y3
	VMOVUPS    Y3, (AX)
	VPERM2F128 $0x31, Y1, Y0, Y3
	VMOVUPS    Y3, (R9)
	VPERM2F128 $0x20, Y6, Y2, Y0
	VMOVUPS    Y0, (AX)(CX*1)
	VPERM2F128 $0x31, Y6, Y2, Y0
	VMOVUPS    Y0, (R9)(CX*1)
	VPERM2F128 $0x20, Y8, Y4, Y0
	VMOVUPS    Y0, (AX)(CX*2)
	VPERM2F128 $0x31, Y8, Y4, Y0
	VMOVUPS    Y0, (R9)(CX*2)
	VPERM2F128 $0x20, Y9, Y5, Y0
	VMOVUPS    Y0, (AX)(DI*1)
	VPERM2F128 $0x31, Y9, Y5, Y0
	VMOVUPS    Y0, (R9)(DI*1)
	LEAQ       (AX)(CX*8), AX
	ADDQ       $0x20, DX
	ADDQ       $0x20, R10
	DECQ       SI
	JNZ        loop
	VZEROUPPER
	RET

// func asmTurnF16(dst *float32, dstBytes int, src *byte, srcBytes int, blocks int)
// Requires: AVX, F16C
TEXT ·asmTurnF16(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), AX
	MOVQ dstBytes+8(FP), CX
	MOVQ src+16(FP), DX
	MOVQ srcBytes+24(FP), BX
	MOVQ blocks+32(FP), SI
	LEAQ (CX)(CX*2), DI
	LEAQ (BX)(BX*2), R8
	LEAQ (DX)(BX*4), R10

loop:
	LEAQ       (AX)(CX*4), R9
	VCVTPH2PS  (DX), Y0
	VCVTPH2PS  (DX)(BX*1), Y2
	VCVTPH2PS  (DX)(BX*2), Y4
	VCVTPH2PS  (DX)(R8*1), Y5
	VUNPCKLPS  Y2, Y0, Y1
	VUNPCKHPS  Y2, Y0, Y3
	VUNPCKLPS  Y5, Y4, Y2
	VUNPCKHPS  Y5, Y4, Y5
	VUNPCKLPD  Y2, Y1, Y0
	VUNPCKHPD  Y2, Y1, Y2
	VUNPCKLPD  Y5, Y3, Y4
	VUNPCKHPD  Y5, Y3, Y5
	VCVTPH2PS  (R10), Y1
	VCVTPH2PS  (R10)(BX*1), Y6
	VCVTPH2PS  (R10)(BX*2), Y8
	VCVTPH2PS  (R10)(R8*1), Y9
	VUNPCKLPS  Y6, Y1, Y3
	VUNPCKHPS  Y6, Y1, Y7
	VUNPCKLPS  Y9, Y8, Y6
	VUNPCKHPS  Y9, Y8, Y9
	VUNPCKLPD  Y6, Y3, Y1
	VUNPCKHPD  Y6, Y3, Y6
	VUNPCKLPD  Y9, Y7, Y8
	VUNPCKHPD  Y9, Y7, Y9
	VPERM2F128 $0x20, Y1, Y0, Y3
	VMOVUPS    Y3, (AX)
	VPERM2F128 $0x31, Y1, Y0, Y3
	VMOVUPS    Y3, (R9)
	VPERM2F128 $0x20, Y6, Y2, Y0
	VMOVUPS    Y0, (AX)(CX*1)
	VPERM2F128 $0x31, Y6, Y2, Y0
	VMOVUPS    Y0, (R9)(CX*1)
	VPERM2F128 $0x20, Y8, Y4, Y0
	VMOVUPS    Y0, (AX)(CX*2)
	VPERM2F128 $0x31, Y8, Y4, Y0
	VMOVUPS    Y0, (R9)(CX*2)
	VPERM2F128 $0x20, Y9, Y5, Y0
	VMOVUPS    Y0, (AX)(DI*1)
	VPERM2F128 $0x31, Y9, Y5, Y0
	VMOVUPS    Y0, (R9)(DI*1)
	LEAQ       (AX)(CX*8), AX
	ADDQ       $0x10, DX
	ADDQ       $0x10, R10
	DECQ       SI
	JNZ        loop
	VZEROUPPER
	RET

// func asmScaleMax(x *float32, n int, scale float32) float32
// Requires: AVX, SSE
TEXT ·asmScaleMax(SB), NOSPLIT, $0-28
	MOVQ         x+0(FP), AX
	MOVQ         n+8(FP), CX
	MOVQ         n+8(FP), DX
	VBROADCASTSS scale+16(FP), Y0
	VMOVUPS      avx2NegativeInfinity<>+0(SB), Y1
	SHRQ         $0x03, DX
	JZ           tail

loop:
	VMULPS  (AX), Y0, Y2
	VMOVUPS Y2, (AX)
	VMAXPS  Y2, Y1, Y1
	ADDQ    $0x20, AX
	DECQ    DX
	JNZ     loop

tail:
	ANDQ       $0x07, CX
	MOVQ       CX, DX
	NEGQ       DX
	LEAQ       avx2Masks<>+0(SB), BX
	VMOVUPS    32(BX)(DX*4), Y2
	TESTQ      CX, CX
	JZ         reduce
	VMASKMOVPS (AX), Y2, Y3
	VMULPS     Y0, Y3, Y3
	VMASKMOVPS Y3, Y2, (AX)
	VMOVUPS    avx2NegativeInfinity<>+0(SB), Y0
	VBLENDVPS  Y2, Y3, Y0, Y3
	VMAXPS     Y3, Y1, Y1

reduce:
	VEXTRACTF128 $0x01, Y1, X0
	VMAXPS       X0, X1, X1
	VMOVHLPS     X1, X1, X0
	VMAXPS       X0, X1, X1
	VMOVSHDUP    X1, X0
	VMAXSS       X0, X1, X1
	MOVSS        X1, ret+24(FP)
	VZEROUPPER
	RET

// func asmExpSum(x *float32, n int, highest float32, sums *[8]float32)
// Requires: AVX, AVX2, FMA3
TEXT ·asmExpSum(SB), NOSPLIT, $0-32
	MOVQ         x+0(FP), AX
	MOVQ         n+8(FP), CX
	MOVQ         n+8(FP), DX
	MOVQ         sums+24(FP), BX
	VMOVUPS      (BX), Y0
	VBROADCASTSS highest+16(FP), Y1
	SHRQ         $0x03, DX
	JZ           tail

loop:
	VMOVUPS     (AX), Y2
	VSUBPS      Y1, Y2, Y2
	VMOVUPS     avx2ExpHigh<>+0(SB), Y3
	VMINPS      Y2, Y3, Y2
	VMOVUPS     avx2ExpLow<>+0(SB), Y3
	VMAXPS      Y2, Y3, Y2
	VMULPS      avx2Log2E<>+0(SB), Y2, Y3
	VROUNDPS    $0x00, Y3, Y3
	VFMADD231PS avx2MinusLn2High<>+0(SB), Y3, Y2
	VFMADD231PS avx2MinusLn2Low<>+0(SB), Y3, Y2
	VMOVUPS     avx2Exp7<>+0(SB), Y4
	VFMADD213PS avx2Exp6<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp5<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp4<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp3<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp2<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp1<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp0<>+0(SB), Y2, Y4
	VCVTPS2DQ   Y3, Y3
	VPSRAD      $0x01, Y3, Y2
	VPSUBD      Y2, Y3, Y3
	VPADDD      avx2ExponentBias<>+0(SB), Y2, Y2
	VPSLLD      $0x17, Y2, Y2
	VMULPS      Y2, Y4, Y4
	VPADDD      avx2ExponentBias<>+0(SB), Y3, Y3
	VPSLLD      $0x17, Y3, Y3
	VMULPS      Y3, Y4, Y4
	VMOVAPS     Y4, Y2
	VMOVUPS     Y2, (AX)
	VADDPS      Y2, Y0, Y0
	ADDQ        $0x20, AX
	DECQ        DX
	JNZ         loop

tail:
	ANDQ        $0x07, CX
	MOVQ        CX, DX
	NEGQ        DX
	LEAQ        avx2Masks<>+0(SB), SI
	VMOVUPS     32(SI)(DX*4), Y2
	TESTQ       CX, CX
	JZ          store
	VMASKMOVPS  (AX), Y2, Y3
	VSUBPS      Y1, Y3, Y3
	VMOVUPS     avx2ExpHigh<>+0(SB), Y1
	VMINPS      Y3, Y1, Y3
	VMOVUPS     avx2ExpLow<>+0(SB), Y1
	VMAXPS      Y3, Y1, Y3
	VMULPS      avx2Log2E<>+0(SB), Y3, Y1
	VROUNDPS    $0x00, Y1, Y1
	VFMADD231PS avx2MinusLn2High<>+0(SB), Y1, Y3
	VFMADD231PS avx2MinusLn2Low<>+0(SB), Y1, Y3
	VMOVUPS     avx2Exp7<>+0(SB), Y4
	VFMADD213PS avx2Exp6<>+0(SB), Y3, Y4
	VFMADD213PS avx2Exp5<>+0(SB), Y3, Y4
	VFMADD213PS avx2Exp4<>+0(SB), Y3, Y4
	VFMADD213PS avx2Exp3<>+0(SB), Y3, Y4
	VFMADD213PS avx2Exp2<>+0(SB), Y3, Y4
	VFMADD213PS avx2Exp1<>+0(SB), Y3, Y4
	VFMADD213PS avx2Exp0<>+0(SB), Y3, Y4
	VCVTPS2DQ   Y1, Y1
	VPSRAD      $0x01, Y1, Y3
	VPSUBD      Y3, Y1, Y1
	VPADDD      avx2ExponentBias<>+0(SB), Y3, Y3
	VPSLLD      $0x17, Y3, Y3
	VMULPS      Y3, Y4, Y4
	VPADDD      avx2ExponentBias<>+0(SB), Y1, Y1
	VPSLLD      $0x17, Y1, Y1
	VMULPS      Y1, Y4, Y4
	VMOVAPS     Y4, Y3
	VANDPS      Y2, Y3, Y3
	VMASKMOVPS  Y3, Y2, (AX)
	VADDPS      Y3, Y0, Y0

store:
	VMOVUPS Y0, (BX)
	VZEROUPPER
	RET

// func asmAdd(x *float32, y *float32, n int)
// Requires: AVX
TEXT ·asmAdd(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), AX
	MOVQ y+8(FP), CX
	MOVQ n+16(FP), DX
	MOVQ n+16(FP), BX
	XORQ SI, SI
	SHRQ $0x03, BX
	JZ   tail

loop:
	VMOVUPS (AX)(SI*4), Y0
	VMOVUPS (CX)(SI*4), Y1
	VADDPS  Y1, Y0, Y0
	VMOVUPS Y0, (AX)(SI*4)
	ADDQ    $0x08, SI
	DECQ    BX
	JNZ     loop

tail:
	ANDQ       $0x07, DX
	MOVQ       DX, BX
	NEGQ       BX
	LEAQ       avx2Masks<>+0(SB), DI
	VMOVUPS    32(DI)(BX*4), Y0
	TESTQ      DX, DX
	JZ         done
	VMASKMOVPS (AX)(SI*4), Y0, Y1
	VMASKMOVPS (CX)(SI*4), Y0, Y2
	VADDPS     Y2, Y1, Y1
	VMASKMOVPS Y1, Y0, (AX)(SI*4)

done:
	VZEROUPPER
	RET

// func asmScale(x *float32, n int, factor float32)
// Requires: AVX
TEXT ·asmScale(SB), NOSPLIT, $0-20
	MOVQ         x+0(FP), AX
	VBROADCASTSS factor+16(FP), Y0
	MOVQ         n+8(FP), CX
	MOVQ         n+8(FP), DX
	XORQ         BX, BX
	SHRQ         $0x03, DX
	JZ           tail

loop:
	VMOVUPS (AX)(BX*4), Y1
	VMULPS  Y0, Y1, Y1
	VMOVUPS Y1, (AX)(BX*4)
	ADDQ    $0x08, BX
	DECQ    DX
	JNZ     loop

tail:
	ANDQ       $0x07, CX
	MOVQ       CX, DX
	NEGQ       DX
	LEAQ       avx2Masks<>+0(SB), SI
	VMOVUPS    32(SI)(DX*4), Y1
	TESTQ      CX, CX
	JZ         done
	VMASKMOVPS (AX)(BX*4), Y1, Y2
	VMULPS     Y0, Y2, Y2
	VMASKMOVPS Y2, Y1, (AX)(BX*4)

done:
	VZEROUPPER
	RET

// func asmScaleBy(out *float32, x *float32, w *float32, n int, factor float32)
// Requires: AVX
TEXT ·asmScaleBy(SB), NOSPLIT, $0-36
	MOVQ         out+0(FP), AX
	MOVQ         x+8(FP), CX
	MOVQ         w+16(FP), DX
	VBROADCASTSS factor+32(FP), Y0
	MOVQ         n+24(FP), BX
	MOVQ         n+24(FP), SI
	XORQ         DI, DI
	SHRQ         $0x03, SI
	JZ           tail

loop:
	VMOVUPS (CX)(DI*4), Y1
	VMOVUPS (DX)(DI*4), Y2
	VMULPS  Y0, Y1, Y1
	VMULPS  Y2, Y1, Y1
	VMOVUPS Y1, (AX)(DI*4)
	ADDQ    $0x08, DI
	DECQ    SI
	JNZ     loop

tail:
	ANDQ       $0x07, BX
	MOVQ       BX, SI
	NEGQ       SI
	LEAQ       avx2Masks<>+0(SB), R8
	VMOVUPS    32(R8)(SI*4), Y1
	TESTQ      BX, BX
	JZ         done
	VMASKMOVPS (CX)(DI*4), Y1, Y2
	VMASKMOVPS (DX)(DI*4), Y1, Y3
	VMULPS     Y0, Y2, Y2
	VMULPS     Y3, Y2, Y2
	VMASKMOVPS Y2, Y1, (AX)(DI*4)

done:
	VZEROUPPER
	RET

// func asmSwiGLU(gate *float32, up *float32, n int)
// Requires: AVX, AVX2, FMA3
TEXT ·asmSwiGLU(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), AX
	MOVQ up+8(FP), CX
	MOVQ n+16(FP), DX
	MOVQ n+16(FP), BX
	XORQ SI, SI
	SHRQ $0x03, BX
	JZ   tail

loop:
	VMOVUPS     (AX)(SI*4), Y0
	VMOVUPS     (CX)(SI*4), Y1
	VXORPS      avx2Signs<>+0(SB), Y0, Y2
	VMOVUPS     avx2ExpHigh<>+0(SB), Y3
	VMINPS      Y2, Y3, Y2
	VMOVUPS     avx2ExpLow<>+0(SB), Y3
	VMAXPS      Y2, Y3, Y2
	VMULPS      avx2Log2E<>+0(SB), Y2, Y3
	VROUNDPS    $0x00, Y3, Y3
	VFMADD231PS avx2MinusLn2High<>+0(SB), Y3, Y2
	VFMADD231PS avx2MinusLn2Low<>+0(SB), Y3, Y2
	VMOVUPS     avx2Exp7<>+0(SB), Y4
	VFMADD213PS avx2Exp6<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp5<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp4<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp3<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp2<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp1<>+0(SB), Y2, Y4
	VFMADD213PS avx2Exp0<>+0(SB), Y2, Y4
	VCVTPS2DQ   Y3, Y3
	VPSRAD      $0x01, Y3, Y2
	VPSUBD      Y2, Y3, Y3
	VPADDD      avx2ExponentBias<>+0(SB), Y2, Y2
	VPSLLD      $0x17, Y2, Y2
	VMULPS      Y2, Y4, Y4
	VPADDD      avx2ExponentBias<>+0(SB), Y3, Y3
	VPSLLD      $0x17, Y3, Y3
	VMULPS      Y3, Y4, Y4
	VMOVAPS     Y4, Y2
	VADDPS      avx2One<>+0(SB), Y2, Y2
	VDIVPS      Y2, Y0, Y2
	VMULPS      Y1, Y2, Y2
	VMOVUPS     Y2, (AX)(SI*4)
	ADDQ        $0x08, SI
	DECQ        BX
	JNZ         loop

tail:
	ANDQ        $0x07, DX
	MOVQ        DX, BX
	NEGQ        BX
	LEAQ        avx2Masks<>+0(SB), DI
	VMOVUPS     32(DI)(BX*4), Y0
	TESTQ       DX, DX
	JZ          done
	VMASKMOVPS  (AX)(SI*4), Y0, Y1
	VMASKMOVPS  (CX)(SI*4), Y0, Y2
	VXORPS      avx2Signs<>+0(SB), Y1, Y3
	VMOVUPS     avx2ExpHigh<>+0(SB), Y4
	VMINPS      Y3, Y4, Y3
	VMOVUPS     avx2ExpLow<>+0(SB), Y4
	VMAXPS      Y3, Y4, Y3
	VMULPS      avx2Log2E<>+0(SB), Y3, Y4
	VROUNDPS    $0x00, Y4, Y4
	VFMADD231PS avx2MinusLn2High<>+0(SB), Y4, Y3
	VFMADD231PS avx2MinusLn2Low<>+0(SB), Y4, Y3
	VMOVUPS     avx2Exp7<>+0(SB), Y5
	VFMADD213PS avx2Exp6<>+0(SB), Y3, Y5
	VFMADD213PS avx2Exp5<>+0(SB), Y3, Y5
	VFMADD213PS avx2Exp4<>+0(SB), Y3, Y5
	VFMADD213PS avx2Exp3<>+0(SB), Y3, Y5
	VFMADD213PS avx2Exp2<>+0(SB), Y3, Y5
	VFMADD213PS avx2Exp1<>+0(SB), Y3, Y5
	VFMADD213PS avx2Exp0<>+0(SB), Y3, Y5
	VCVTPS2DQ   Y4, Y4
	VPSRAD      $0x01, Y4, Y3
	VPSUBD      Y3, Y4, Y4
	VPADDD      avx2ExponentBias<>+0(SB), Y3, Y3
	VPSLLD      $0x17, Y3, Y3
	VMULPS      Y3, Y5, Y5
	VPADDD      avx2ExponentBias<>+0(SB), Y4, Y4
	VPSLLD      $0x17, Y4, Y4
	VMULPS      Y4, Y5, Y5
	VMOVAPS     Y5, Y3
	VADDPS      avx2One<>+0(SB), Y3, Y3
	VDIVPS      Y3, Y1, Y3
	VMULPS      Y2, Y3, Y3
	VMASKMOVPS  Y3, Y0, (AX)(SI*4)

done:
	VZEROUPPER
	RET

// func asmRotateNeox(low *float32, high *float32, cos *float32, sin *float32, blocks int)
// Requires: AVX, FMA3
TEXT ·asmRotateNeox(SB), NOSPLIT, $0-40
	MOVQ  low+0(FP), AX
	MOVQ  high+8(FP), CX
	MOVQ  cos+16(FP), DX
	MOVQ  sin+24(FP), BX
	MOVQ  blocks+32(FP), SI
	XORQ  DI, DI
	TESTQ SI, SI
	JZ    done

loop:
	VMOVUPS     (AX)(DI*1), Y0
	VMOVUPS     (CX)(DI*1), Y1
	VMOVUPS     (DX)(DI*1), Y2
	VMOVUPS     (BX)(DI*1), Y3
	VMULPS      Y3, Y1, Y4
	VMULPS      Y3, Y0, Y3
	VFMSUB231PS Y2, Y0, Y4
	VFMADD231PS Y2, Y1, Y3
	VMOVUPS     Y4, (AX)(DI*1)
	VMOVUPS     Y3, (CX)(DI*1)
	ADDQ        $0x20, DI
	DECQ        SI
	JNZ         loop

done:
	VZEROUPPER
	RET

// func asmRotateNorm(x *float32, cos *float32, sin *float32, blocks int)
// Requires: AVX, AVX2, FMA3
TEXT ·asmRotateNorm(SB), NOSPLIT, $0-32
	MOVQ  x+0(FP), AX
	MOVQ  cos+8(FP), CX
	MOVQ  sin+16(FP), DX
	MOVQ  blocks+24(FP), BX
	TESTQ BX, BX
	JZ    done

loop:
	VPMOVZXDQ      (CX), Y2
	VMOVSLDUP      Y2, Y2
	VPMOVZXDQ      (DX), Y3
	VMOVSLDUP      Y3, Y3
	VMOVUPS        (AX), Y0
	VPERMILPS      $0xb1, Y0, Y1
	VMULPS         Y3, Y1, Y1
	VFMADDSUB231PS Y2, Y0, Y1
	VMOVUPS        Y1, (AX)
	ADDQ           $0x20, AX
	ADDQ           $0x10, CX
	ADDQ           $0x10, DX
	DECQ           BX
	JNZ            loop

done:
	VZEROUPPER
	RET
