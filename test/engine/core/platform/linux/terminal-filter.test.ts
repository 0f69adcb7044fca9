import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildTerminalFilter } from '../../../../../engine/core/platform/linux/sandbox/terminal.ts';

/** The kernel's result for a system call under the filter: `allow`, or the errno. */
function verdictOf(filter: Buffer, call: { arch: number; number: number; request: number }): string | number {
  const data = new Map([
    [0, call.number],
    [4, call.arch],
    [24, call.request],
  ]);
  let loaded = 0;
  for (let at = 0; ; at += 1) {
    const [code, value] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)];
    const jump = (holds: boolean): void => {
      at += filter.readUInt8(at * 8 + (holds ? 2 : 3));
    };
    if (code === 0x20) loaded = data.get(value) ?? assert.fail(`the filter loads ${value}`);
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x06) return value === 0x7fff0000 ? 'allow' : value & 0xffff;
    else assert.fail(`instruction ${code}`);
  }
}

describe('the filter of a confined program on a terminal', () => {
  for (const [processor, name, arch, ioctl] of [
    ['x64', 'x64', 0xc000003e, 16],
    ['x64', 'i386', 0x40000003, 54],
    ['arm64', 'arm64', 0xc00000b7, 29],
    ['arm64', 'arm', 0x40000028, 54],
  ] as const) {
    test(`the filter allows everything on ${name} except typing for the person`, () => {
      const filter = buildTerminalFilter(processor) ?? assert.fail();
      const verdict = (number: number, request: number) => verdictOf(filter, { arch, number, request });
      assert.deepEqual([verdict(ioctl, 0x5412), verdict(ioctl, 0x541c)], [1, 1]);
      // The ioctl for the window size, and another call with the same argument.
      assert.deepEqual([verdict(ioctl, 0x5413), verdict(ioctl + 1, 0x5412)], ['allow', 'allow']);
    });
  }

  test('the filter covers every way around it, and its processors', () => {
    const filter = buildTerminalFilter('x64') ?? assert.fail();
    const x32 = 0x40000000;
    for (const number of [x32 + 514, x32 + 16])
      assert.equal(verdictOf(filter, { arch: 0xc000003e, number, request: 0x5412 }), 38);
    assert.equal(verdictOf(filter, { arch: 0xc00000b7, number: 29, request: 0x5412 }), 38);
    assert.equal(buildTerminalFilter('riscv64'), null);
  });
});
