/** Terms of people who program devices, mainly in C and C++. As in `developing.ts`. */
export const DEVICES = `
can can-bus fdcan canopen bus frame automotive
bus-message bus-messages frame frames can
message frame packet telegram datagram
wireless radio lora air rf zigbee
transmit send airtime duty-cycle frame
serialization serialisation serialise encoding cbor protobuf nanopb msgpack asn1 format
serial-port serial uart console rs232 rs485 com-port tty
serial baud uart console
optimizer optimiser optimization compiler o2 o3 inline volatile
busy-waiting busy-wait delay-loop spin polling delay
error-handling exception exceptions errors expected result
exception exceptions throw catch rtti
flash flashing program burn upload write-firmware swd jtag brennen 烧录 刷写 書き込み
debugger probe swd jtag openocd gdb jlink st-link
firmware image binary app program
firmware-update ota update upgrade image slot
handshake tls encrypted-connection establishing ssl
encrypted tls ssl secure encryption
crash hardfault fault abort panic core-dump coredump dump
post-mortem core-dump coredump crash-dump dump
dynamic-allocation malloc heap new allocate allocation 堆 动态内存 动态分配 動的確保
malloc heap dynamic allocation 堆内存 动态内存 内存分配
stack-overflow stack
compile-cache ccache sccache cache
dma direct-memory-access direct-memory-transfer
stale-value old-data cache-line cache-lines invalidate
real-time control-loop hard-real-time isr
control-loop regulator controller regler pid loop
regulator control loop controller
motor engine drive actuator spindle antrieb 电机 モーター
encoder quadrature resolver rotary
bootloader mcuboot uboot u-boot boot
update image upgrade secondary-slot slot
thread task process
binary elf image firmware executable
physical-unit unit units volt ampere
measure measured measurement adc reading value messwert messwerte
lock-free atomic ring-buffer wait-free ringbuffer ringpuffer queue
data-race race atomic memory-order
unit-test ctest catch2 googletest gtest cpputest host
linking linker link undefined-reference ld symbol
destructor virtual abstract vtable pure
cross-compiler cross-compile toolchain gcc arm-none-eabi clang compiler
static-analysis clang-tidy cppcheck lint coverity sanitizer misra
unaligned alignment aligned packed misaligned undefined-behaviour
undefined-behavior undefined-behaviour undefined ub ubsan
peripheral chip expander sensor device component
standby sleep low-power deep-sleep idle
energy-consumption current consumption power sleep-current draw stromverbrauch
programming-language language rust c++ ada
certified certification certificate sil norm standard safety zertifizierung 认证 認証
functional-safety safety sil asil iec iso-26262
global object singleton static globals
binary-compatibility abi compatible
package-manager conan vcpkg
third-party external dependency
calibration calibrate correction offset trim 补正 補正 校正 キャリブレーション
buffer puffer ring fifo
runtime at-runtime after-init 运行时 実行時 laufzeit betrieb
memory-management allocation malloc speicherverwaltung speicher
device gerat board unit
interrupt isr irq handler
pattern-matching regex regexp regular-expression
binary-size code-size footprint flash-size bloat
under-voltage undervoltage low-voltage brown-out cut-off
nack no-acknowledge unresponsive no-answer
fuse sicherung breaker 保险丝 ヒューズ
plc sps controller steuerung
cmake meson make makefile bazel ninja build-system
`;
