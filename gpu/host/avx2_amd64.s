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

DATA avx2Two28th<>+0(SB)/4, $0x31800000
DATA avx2Two28th<>+4(SB)/4, $0x31800000
DATA avx2Two28th<>+8(SB)/4, $0x31800000
DATA avx2Two28th<>+12(SB)/4, $0x31800000
DATA avx2Two28th<>+16(SB)/4, $0x31800000
DATA avx2Two28th<>+20(SB)/4, $0x31800000
DATA avx2Two28th<>+24(SB)/4, $0x31800000
DATA avx2Two28th<>+28(SB)/4, $0x31800000
GLOBL avx2Two28th<>(SB), RODATA|NOPTR, $32

DATA avx2Signs4<>+0(SB)/4, $0xffffff88
DATA avx2Signs4<>+4(SB)/4, $0xffffff88
DATA avx2Signs4<>+8(SB)/4, $0xffffff88
DATA avx2Signs4<>+12(SB)/4, $0xffffff88
DATA avx2Signs4<>+16(SB)/4, $0xffffff88
DATA avx2Signs4<>+20(SB)/4, $0xffffff88
DATA avx2Signs4<>+24(SB)/4, $0xffffff88
DATA avx2Signs4<>+28(SB)/4, $0xffffff88
GLOBL avx2Signs4<>(SB), RODATA|NOPTR, $32

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

// func asmDecodeQ8_0(dst *float32, src *byte, blocks int)
// Requires: AVX, AVX2, F16C
TEXT ·asmDecodeQ8_0(SB), NOSPLIT, $0-24
	MOVQ  dst+0(FP), AX
	MOVQ  src+8(FP), CX
	MOVQ  blocks+16(FP), DX
	TESTQ DX, DX
	JZ    done

loop:
	VPBROADCASTW (CX), X0
	VCVTPH2PS    X0, Y0
	VPMOVSXBD    2(CX), Y1
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y0, Y1, Y1
	VMOVUPS      Y1, (AX)
	VPMOVSXBD    10(CX), Y1
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y0, Y1, Y1
	VMOVUPS      Y1, 32(AX)
	VPMOVSXBD    18(CX), Y1
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y0, Y1, Y1
	VMOVUPS      Y1, 64(AX)
	VPMOVSXBD    26(CX), Y1
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y0, Y1, Y1
	VMOVUPS      Y1, 96(AX)
	ADDQ         $0x22, CX
	ADDQ         $0x80, AX
	DECQ         DX
	JNZ          loop

done:
	VZEROUPPER
	RET

// func asmDecodeQ4_0(dst *float32, src *byte, blocks int)
// Requires: AVX, AVX2, F16C
TEXT ·asmDecodeQ4_0(SB), NOSPLIT, $0-24
	MOVQ  dst+0(FP), AX
	MOVQ  src+8(FP), CX
	MOVQ  blocks+16(FP), DX
	TESTQ DX, DX
	JZ    done

loop:
	VPBROADCASTW (CX), X0
	VCVTPH2PS    X0, Y0
	VMULPS       avx2Two28th<>+0(SB), Y0, Y1
	VPMOVSXBD    2(CX), Y2
	VPXOR        avx2Signs4<>+0(SB), Y2, Y2
	VPSLLD       $0x1c, Y2, Y3
	VCVTDQ2PS    Y3, Y3
	VMULPS       Y1, Y3, Y3
	VMOVUPS      Y3, (AX)
	VPMOVSXBD    10(CX), Y3
	VPXOR        avx2Signs4<>+0(SB), Y3, Y3
	VPSLLD       $0x1c, Y3, Y4
	VCVTDQ2PS    Y4, Y4
	VMULPS       Y1, Y4, Y4
	VMOVUPS      Y4, 32(AX)
	VPSRAD       $0x04, Y2, Y1
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y0, Y1, Y1
	VMOVUPS      Y1, 64(AX)
	VPSRAD       $0x04, Y3, Y1
	VCVTDQ2PS    Y1, Y1
	VMULPS       Y0, Y1, Y1
	VMOVUPS      Y1, 96(AX)
	ADDQ         $0x12, CX
	ADDQ         $0x80, AX
	DECQ         DX
	JNZ          loop

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
	LEAQ     (SI)(CX*8), R8
	LEAQ     (DI)(CX*8), R9
	LEAQ     (SP), BX
	ADDQ     $0x1f, BX
	ANDQ     $-32, BX
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0  (R8)
	PREFETCHT0  (R8)(CX*1)
	PREFETCHT0  (R8)(CX*2)
	PREFETCHT0  (R8)(DX*1)
	PREFETCHT0  (R9)
	PREFETCHT0  (R9)(CX*1)
	PREFETCHT0  (R9)(CX*2)
	PREFETCHT0  (R9)(DX*1)
	VMOVDQU     2(SI), X1
	VINSERTI128 $0x01, 2(DI), Y1, Y1
	VMOVDQU     2(SI)(CX*1), X2
	VINSERTI128 $0x01, 2(DI)(CX*1), Y2, Y2
	VMOVDQU     2(SI)(CX*2), X3
	VINSERTI128 $0x01, 2(DI)(CX*2), Y3, Y3
	VMOVDQU     2(SI)(DX*1), X4
	VINSERTI128 $0x01, 2(DI)(DX*1), Y4, Y4
	VPUNPCKLDQ  Y2, Y1, Y5
	VPUNPCKHDQ  Y2, Y1, Y6
	VPUNPCKLDQ  Y4, Y3, Y2
	VPUNPCKHDQ  Y4, Y3, Y4
	VPUNPCKLQDQ Y2, Y5, Y1
	VPUNPCKHQDQ Y2, Y5, Y2
	VPUNPCKLQDQ Y4, Y6, Y3
	VPUNPCKHQDQ Y4, Y6, Y4
	VMOVDQA     Y1, (BX)
	VPABSB      Y1, Y1
	VMOVDQA     Y2, 32(BX)
	VPABSB      Y2, Y2
	VMOVDQA     Y3, 64(BX)
	VPABSB      Y3, Y3
	VMOVDQA     Y4, 96(BX)
	VPABSB      Y4, Y4
	VMOVDQU     18(SI), X7
	VINSERTI128 $0x01, 18(DI), Y7, Y7
	VMOVDQU     18(SI)(CX*1), X8
	VINSERTI128 $0x01, 18(DI)(CX*1), Y8, Y8
	VMOVDQU     18(SI)(CX*2), X9
	VINSERTI128 $0x01, 18(DI)(CX*2), Y9, Y9
	VMOVDQU     18(SI)(DX*1), X10
	VINSERTI128 $0x01, 18(DI)(DX*1), Y10, Y10
	VPUNPCKLDQ  Y8, Y7, Y5
	VPUNPCKHDQ  Y8, Y7, Y6
	VPUNPCKLDQ  Y10, Y9, Y8
	VPUNPCKHDQ  Y10, Y9, Y10
	VPUNPCKLQDQ Y8, Y5, Y7
	VPUNPCKHQDQ Y8, Y5, Y8
	VPUNPCKLQDQ Y10, Y6, Y9
	VPUNPCKHQDQ Y10, Y6, Y10
	VMOVDQA     Y7, 128(BX)
	VPABSB      Y7, Y7
	VMOVDQA     Y8, 160(BX)
	VPABSB      Y8, Y8
	VMOVDQA     Y9, 192(BX)
	VPABSB      Y9, Y9
	VMOVDQA     Y10, 224(BX)
	VPABSB      Y10, Y10
	VPXOR       X5, X5, X5
	VPINSRW     $0x00, (SI), X5, X5
	VPINSRW     $0x01, (SI)(CX*1), X5, X5
	VPINSRW     $0x02, (SI)(CX*2), X5, X5
	VPINSRW     $0x03, (SI)(DX*1), X5, X5
	VPINSRW     $0x04, (DI), X5, X5
	VPINSRW     $0x05, (DI)(CX*1), X5, X5
	VPINSRW     $0x06, (DI)(CX*2), X5, X5
	VPINSRW     $0x07, (DI)(DX*1), X5, X5
	VCVTPH2PS   X5, Y5
	MOVQ        acc+0(FP), R10
	MOVQ        rows+32(FP), R11

rows1:
	VPBROADCASTD (AX), Y6
	VPSIGNB      (BX), Y6, Y6
	VPMADDUBSW   Y6, Y1, Y6
	VPMADDWD     Y0, Y6, Y6
	VPBROADCASTD 4(AX), Y11
	VPSIGNB      32(BX), Y11, Y11
	VPMADDUBSW   Y11, Y2, Y11
	VPMADDWD     Y0, Y11, Y11
	VPBROADCASTD 8(AX), Y12
	VPSIGNB      64(BX), Y12, Y12
	VPMADDUBSW   Y12, Y3, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y6, Y6
	VPBROADCASTD 12(AX), Y12
	VPSIGNB      96(BX), Y12, Y12
	VPMADDUBSW   Y12, Y4, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VPBROADCASTD 16(AX), Y12
	VPSIGNB      128(BX), Y12, Y12
	VPMADDUBSW   Y12, Y7, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y6, Y6
	VPBROADCASTD 20(AX), Y12
	VPSIGNB      160(BX), Y12, Y12
	VPMADDUBSW   Y12, Y8, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VPBROADCASTD 24(AX), Y12
	VPSIGNB      192(BX), Y12, Y12
	VPMADDUBSW   Y12, Y9, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y6, Y6
	VPBROADCASTD 28(AX), Y12
	VPSIGNB      224(BX), Y12, Y12
	VPMADDUBSW   Y12, Y10, Y12
	VPMADDWD     Y0, Y12, Y12
	VPADDD       Y12, Y11, Y11
	VPADDD       Y11, Y6, Y6
	VCVTDQ2PS    Y6, Y6
	VPBROADCASTD 32(AX), Y11
	VMULPS       Y11, Y6, Y6
	VMULPS       Y5, Y6, Y6
	VADDPS       (R10), Y6, Y6
	VMOVUPS      Y6, (R10)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R10
	DECQ         R11
	JNZ          rows1
	ADDQ         $0x22, SI
	ADDQ         $0x22, DI
	ADDQ         $0x22, R8
	ADDQ         $0x22, R9
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
	LEAQ     (BX)(CX*8), DI
	LEAQ     (SI)(CX*8), R8
	VPCMPEQD Y0, Y0, Y0
	VPSRLW   $0x0f, Y0, Y0

blocks:
	PREFETCHT0  (DI)
	PREFETCHT0  (DI)(CX*1)
	PREFETCHT0  (DI)(CX*2)
	PREFETCHT0  (DI)(DX*1)
	PREFETCHT0  (R8)
	PREFETCHT0  (R8)(CX*1)
	PREFETCHT0  (R8)(CX*2)
	PREFETCHT0  (R8)(DX*1)
	VMOVDQU     2(BX), X1
	VINSERTI128 $0x01, 2(SI), Y1, Y1
	VMOVDQU     2(BX)(CX*1), X2
	VINSERTI128 $0x01, 2(SI)(CX*1), Y2, Y2
	VMOVDQU     2(BX)(CX*2), X3
	VINSERTI128 $0x01, 2(SI)(CX*2), Y3, Y3
	VMOVDQU     2(BX)(DX*1), X4
	VINSERTI128 $0x01, 2(SI)(DX*1), Y4, Y4
	VPUNPCKLDQ  Y2, Y1, Y5
	VPUNPCKHDQ  Y2, Y1, Y6
	VPUNPCKLDQ  Y4, Y3, Y2
	VPUNPCKHDQ  Y4, Y3, Y4
	VPUNPCKLQDQ Y2, Y5, Y1
	VPUNPCKHQDQ Y2, Y5, Y2
	VPUNPCKLQDQ Y4, Y6, Y3
	VPUNPCKHQDQ Y4, Y6, Y4
	VPAND       avx2LowNibbles<>+0(SB), Y1, Y5
	VMOVDQU     Y1, Y6
	VPSRLW      $0x04, Y6, Y6
	VPAND       avx2LowNibbles<>+0(SB), Y6, Y6
	VPAND       avx2LowNibbles<>+0(SB), Y2, Y7
	VMOVDQU     Y2, Y8
	VPSRLW      $0x04, Y8, Y8
	VPAND       avx2LowNibbles<>+0(SB), Y8, Y8
	VPAND       avx2LowNibbles<>+0(SB), Y3, Y9
	VMOVDQU     Y3, Y10
	VPSRLW      $0x04, Y10, Y10
	VPAND       avx2LowNibbles<>+0(SB), Y10, Y10
	VPAND       avx2LowNibbles<>+0(SB), Y4, Y11
	VMOVDQU     Y4, Y12
	VPSRLW      $0x04, Y12, Y12
	VPAND       avx2LowNibbles<>+0(SB), Y12, Y12
	VPXOR       X1, X1, X1
	VPINSRW     $0x00, (BX), X1, X1
	VPINSRW     $0x01, (BX)(CX*1), X1, X1
	VPINSRW     $0x02, (BX)(CX*2), X1, X1
	VPINSRW     $0x03, (BX)(DX*1), X1, X1
	VPINSRW     $0x04, (SI), X1, X1
	VPINSRW     $0x05, (SI)(CX*1), X1, X1
	VPINSRW     $0x06, (SI)(CX*2), X1, X1
	VPINSRW     $0x07, (SI)(DX*1), X1, X1
	VCVTPH2PS   X1, Y13
	MOVQ        acc+0(FP), R9
	MOVQ        rows+32(FP), R10

rows1:
	VPBROADCASTD (AX), Y14
	VPMADDUBSW   Y14, Y5, Y14
	VPBROADCASTD 4(AX), Y15
	VPMADDUBSW   Y15, Y7, Y15
	VPADDW       Y15, Y14, Y14
	VPBROADCASTD 8(AX), Y15
	VPMADDUBSW   Y15, Y9, Y15
	VPADDW       Y15, Y14, Y14
	VPBROADCASTD 12(AX), Y15
	VPMADDUBSW   Y15, Y11, Y15
	VPADDW       Y15, Y14, Y14
	VPBROADCASTD 16(AX), Y15
	VPMADDUBSW   Y15, Y6, Y15
	VPADDW       Y15, Y14, Y14
	VPBROADCASTD 20(AX), Y15
	VPMADDUBSW   Y15, Y8, Y15
	VPADDW       Y15, Y14, Y14
	VPBROADCASTD 24(AX), Y15
	VPMADDUBSW   Y15, Y10, Y15
	VPADDW       Y15, Y14, Y14
	VPBROADCASTD 28(AX), Y15
	VPMADDUBSW   Y15, Y12, Y15
	VPADDW       Y15, Y14, Y14
	VPMADDWD     Y0, Y14, Y14
	VPBROADCASTD 40(AX), Y15
	VPSLLD       $0x03, Y15, Y15
	VPSUBD       Y15, Y14, Y14
	VCVTDQ2PS    Y14, Y14
	VPBROADCASTD 32(AX), Y15
	VMULPS       Y15, Y14, Y14
	VMULPS       Y13, Y14, Y14
	VADDPS       (R9), Y14, Y14
	VMOVUPS      Y14, (R9)
	ADDQ         $0x30, AX
	ADDQ         $0x20, R9
	DECQ         R10
	JNZ          rows1
	ADDQ         $0x12, BX
	ADDQ         $0x12, SI
	ADDQ         $0x12, DI
	ADDQ         $0x12, R8
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

// func asmMixF32_3x4(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, FMA3
TEXT ·asmMixF32_3x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), CX
	LEAQ    (CX)(AX*4), DX
	LEAQ    (DX)(AX*4), AX
	MOVQ    pStride+24(FP), BX
	MOVQ    p+16(FP), SI
	LEAQ    (SI)(BX*4), DI
	LEAQ    (DI)(BX*4), BX
	MOVQ    v+32(FP), R8
	MOVQ    rowBytes+40(FP), R9
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
	ADDQ         R9, R8
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

// func asmMixF32_2x4(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, FMA3
TEXT ·asmMixF32_2x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), CX
	LEAQ    (CX)(AX*4), AX
	MOVQ    pStride+24(FP), DX
	MOVQ    p+16(FP), BX
	LEAQ    (BX)(DX*4), DX
	MOVQ    v+32(FP), SI
	MOVQ    rowBytes+40(FP), DI
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
	ADDQ         DI, SI
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

// func asmMixF32_1x8(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, FMA3
TEXT ·asmMixF32_1x8(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    rowBytes+40(FP), BX
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
	VMOVUPS      (DX), Y9
	VFMADD231PS  Y9, Y8, Y0
	VMOVUPS      32(DX), Y9
	VFMADD231PS  Y9, Y8, Y1
	VMOVUPS      64(DX), Y9
	VFMADD231PS  Y9, Y8, Y2
	VMOVUPS      96(DX), Y9
	VFMADD231PS  Y9, Y8, Y3
	VMOVUPS      128(DX), Y9
	VFMADD231PS  Y9, Y8, Y4
	VMOVUPS      160(DX), Y9
	VFMADD231PS  Y9, Y8, Y5
	VMOVUPS      192(DX), Y9
	VFMADD231PS  Y9, Y8, Y6
	VMOVUPS      224(DX), Y9
	VFMADD231PS  Y9, Y8, Y7
	ADDQ         BX, DX
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

// func asmMixF32_1x4(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, FMA3
TEXT ·asmMixF32_1x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    rowBytes+40(FP), BX
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
	VMOVUPS      (DX), Y5
	VFMADD231PS  Y5, Y4, Y0
	VMOVUPS      32(DX), Y5
	VFMADD231PS  Y5, Y4, Y1
	VMOVUPS      64(DX), Y5
	VFMADD231PS  Y5, Y4, Y2
	VMOVUPS      96(DX), Y5
	VFMADD231PS  Y5, Y4, Y3
	ADDQ         BX, DX
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

// func asmMixF32_1x1(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, FMA3
TEXT ·asmMixF32_1x1(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    rowBytes+40(FP), BX
	MOVQ    n+48(FP), SI
	VMOVUPS (AX), Y0
	XORQ    DI, DI
	TESTQ   SI, SI
	JZ      done

loop:
	VBROADCASTSS (CX)(DI*4), Y1
	VMOVUPS      (DX), Y2
	VFMADD231PS  Y2, Y1, Y0
	ADDQ         BX, DX
	INCQ         DI
	CMPQ         DI, SI
	JB           loop

done:
	VMOVUPS Y0, (AX)
	VZEROUPPER
	RET

// func asmMixF16_3x4(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmMixF16_3x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), CX
	LEAQ    (CX)(AX*4), DX
	LEAQ    (DX)(AX*4), AX
	MOVQ    pStride+24(FP), BX
	MOVQ    p+16(FP), SI
	LEAQ    (SI)(BX*4), DI
	LEAQ    (DI)(BX*4), BX
	MOVQ    v+32(FP), R8
	MOVQ    rowBytes+40(FP), R9
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
	VCVTPH2PS    (R8), Y15
	VFMADD231PS  Y15, Y12, Y0
	VFMADD231PS  Y15, Y13, Y4
	VFMADD231PS  Y15, Y14, Y8
	VCVTPH2PS    16(R8), Y15
	VFMADD231PS  Y15, Y12, Y1
	VFMADD231PS  Y15, Y13, Y5
	VFMADD231PS  Y15, Y14, Y9
	VCVTPH2PS    32(R8), Y15
	VFMADD231PS  Y15, Y12, Y2
	VFMADD231PS  Y15, Y13, Y6
	VFMADD231PS  Y15, Y14, Y10
	VCVTPH2PS    48(R8), Y15
	VFMADD231PS  Y15, Y12, Y3
	VFMADD231PS  Y15, Y13, Y7
	VFMADD231PS  Y15, Y14, Y11
	ADDQ         R9, R8
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

// func asmMixF16_2x4(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmMixF16_2x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), CX
	LEAQ    (CX)(AX*4), AX
	MOVQ    pStride+24(FP), DX
	MOVQ    p+16(FP), BX
	LEAQ    (BX)(DX*4), DX
	MOVQ    v+32(FP), SI
	MOVQ    rowBytes+40(FP), DI
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
	VCVTPH2PS    (SI), Y10
	VFMADD231PS  Y10, Y8, Y0
	VFMADD231PS  Y10, Y9, Y4
	VCVTPH2PS    16(SI), Y10
	VFMADD231PS  Y10, Y8, Y1
	VFMADD231PS  Y10, Y9, Y5
	VCVTPH2PS    32(SI), Y10
	VFMADD231PS  Y10, Y8, Y2
	VFMADD231PS  Y10, Y9, Y6
	VCVTPH2PS    48(SI), Y10
	VFMADD231PS  Y10, Y8, Y3
	VFMADD231PS  Y10, Y9, Y7
	ADDQ         DI, SI
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

// func asmMixF16_1x8(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmMixF16_1x8(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    rowBytes+40(FP), BX
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
	VCVTPH2PS    (DX), Y9
	VFMADD231PS  Y9, Y8, Y0
	VCVTPH2PS    16(DX), Y9
	VFMADD231PS  Y9, Y8, Y1
	VCVTPH2PS    32(DX), Y9
	VFMADD231PS  Y9, Y8, Y2
	VCVTPH2PS    48(DX), Y9
	VFMADD231PS  Y9, Y8, Y3
	VCVTPH2PS    64(DX), Y9
	VFMADD231PS  Y9, Y8, Y4
	VCVTPH2PS    80(DX), Y9
	VFMADD231PS  Y9, Y8, Y5
	VCVTPH2PS    96(DX), Y9
	VFMADD231PS  Y9, Y8, Y6
	VCVTPH2PS    112(DX), Y9
	VFMADD231PS  Y9, Y8, Y7
	ADDQ         BX, DX
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

// func asmMixF16_1x4(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmMixF16_1x4(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    rowBytes+40(FP), BX
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
	VCVTPH2PS    (DX), Y5
	VFMADD231PS  Y5, Y4, Y0
	VCVTPH2PS    16(DX), Y5
	VFMADD231PS  Y5, Y4, Y1
	VCVTPH2PS    32(DX), Y5
	VFMADD231PS  Y5, Y4, Y2
	VCVTPH2PS    48(DX), Y5
	VFMADD231PS  Y5, Y4, Y3
	ADDQ         BX, DX
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

// func asmMixF16_1x1(out *float32, outStride int, p *float32, pStride int, v *byte, rowBytes int, n int)
// Requires: AVX, F16C, FMA3
TEXT ·asmMixF16_1x1(SB), NOSPLIT, $0-56
	MOVQ    outStride+8(FP), AX
	MOVQ    out+0(FP), AX
	MOVQ    pStride+24(FP), CX
	MOVQ    p+16(FP), CX
	MOVQ    v+32(FP), DX
	MOVQ    rowBytes+40(FP), BX
	MOVQ    n+48(FP), SI
	VMOVUPS (AX), Y0
	XORQ    DI, DI
	TESTQ   SI, SI
	JZ      done

loop:
	VBROADCASTSS (CX)(DI*4), Y1
	VCVTPH2PS    (DX), Y2
	VFMADD231PS  Y2, Y1, Y0
	ADDQ         BX, DX
	INCQ         DI
	CMPQ         DI, SI
	JB           loop

done:
	VMOVUPS Y0, (AX)
	VZEROUPPER
	RET

// func asmMixTail(out *float32, columns int, p *float32, v *float32, rowBytes int, n int)
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
	MOVQ       rowBytes+32(FP), BX
	MOVQ       n+40(FP), SI
	VMASKMOVPS (AX), Y0, Y1
	TESTQ      SI, SI
	JZ         done

loop:
	VBROADCASTSS (CX), Y3
	VMASKMOVPS   (DX), Y0, Y2
	VFMADD231PS  Y2, Y3, Y1
	ADDQ         $0x04, CX
	ADDQ         BX, DX
	DECQ         SI
	JNZ          loop

done:
	VMASKMOVPS Y1, Y0, (AX)
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
