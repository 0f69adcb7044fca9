import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crush } from '../../../../engine/knowledge/context/crush/index.ts';

const repeat = (count: number, line: (at: number) => string): string =>
  `${Array.from({ length: count }, (_, at) => line(at)).join('\n')}\n`;

const column = (text: string, width: number): string => text.padEnd(width);

describe('what crushing keeps', () => {
  test('search results as JSON on each line are content, also with a level and a time', () => {
    for (const line of [
      (at: number) => ({
        level: 'match',
        time: 1_700_000_000 + at,
        path: `src/f${at}.ts`,
        line: at,
        snippet: 'x',
      }),
      (at: number) => ({
        timestamp: '2026-01-01T00:00:00Z',
        severity: 'hit',
        url: `https://a.org/${at}`,
        title: 'T',
      }),
      (at: number) => ({ type: 'match', data: { path: { text: `src/f${at}` }, lines: { text: 'foo' } } }),
    ]) {
      const text = repeat(80, (at) => JSON.stringify(line(at)));
      for (const options of [{}, { kind: 'log' as const }]) assert.equal(crush(text, options).text, text);
    }
    const logged = repeat(80, (at) =>
      JSON.stringify({ level: 'info', time: at, file: 'a.go', line: 12, msg: `request ${at} handled` }),
    );
    assert.ok(crush(logged).bytesOut * 2 < logged.length, 'log entries with a place are a log');
  });

  test('the last row of a table that is printed while it runs is kept', () => {
    const rows = repeat(60, (at) => `12:00:${String(at).padStart(2, '0')} all 1.20 0.00 ${at % 5}.30 98.10`);
    const { text } = crush(rows);
    assert.ok(text.length * 2 < rows.length);
    assert.match(text, /^12:00:59 all 1\.20 0\.00 4\.30 98\.10$/m);
  });

  test('the text of a todo is kept', () => {
    const text = repeat(30, (at) => `✔ handles case ${at} (0.2ms)${at === 9 ? ' # needs a clock' : ''}`);
    assert.match(crush(`${text}ℹ pass 30\n`).text, /^✔ handles case 9 \(0\.2ms\) # needs a clock$/m);
  });

  test('names in overwritten states of a display are in its marker', () => {
    const states = ['alpine', 'busybox', 'caddy'].flatMap((name) =>
      Array.from({ length: 20 }, (_, at) => `Pulling image number one of ${name} ${at * 5}% 1.${at} MB/s`),
    );
    const { text } = crush(`${states.join('\r')}\n`);
    for (const name of ['alpine', 'busybox', 'caddy']) assert.ok(text.includes(name), text);
    assert.ok(text.length < 400, text);
    const layers = Array.from(
      { length: 60 },
      (_, at) => `layer-${at % 3} ${at}% 2.${at}MB/88MB eta 1m0${at % 9}s`,
    );
    const numbered = crush(`${layers.join('\r')}\n`).text;
    for (const name of ['layer-0', 'layer-1', 'layer-2']) assert.ok(numbered.includes(name), numbered);
    assert.ok(numbered.length < 250, numbered);
  });
});

describe('what crushing leaves out', () => {
  test('passing cases of JUnit XML are left out, and cases with content stay', () => {
    const text = `<?xml version="1.0" encoding="utf-8"?>
<testsuites>
<testsuite name="a" tests="62">
${repeat(30, (at) => `  <testcase name="self ${at}" classname="a" time="0.001"/>`)}${repeat(30, (at) => `  <testcase name="pair ${at}" classname="a" time="0.002">\n  </testcase>`)}  <testcase name="broken" classname="a" time="0.003">
    <failure message="expected 1">at a.ts:3</failure>
  </testcase>
  <testcase name="left" classname="a"><skipped/></testcase>
</testsuite>
</testsuites>
`;
    const { text: out, bytesOut } = crush(text);
    assert.ok(bytesOut * 4 < text.length, out);
    for (const kept of ['name="broken"', 'expected 1', 'a.ts:3', 'name="left"', 'tests="62"'])
      assert.ok(out.includes(kept), kept);
  });

  test('healthy rows of a table of states are left out by name, and every other row stays', () => {
    const row = (name: string, ready: string, status: string, restarts: string): string =>
      `${column(name, 20) + column(ready, 8) + column(status, 20) + column(restarts, 14)}3d`;
    const text = `${row('NAME', 'READY', 'STATUS', 'RESTARTS').replace('3d', 'AGE')}\n${repeat(40, (at) => {
      if (at === 7) return row('web-7', '0/1', 'CrashLoopBackOff', '17 (2m ago)');
      if (at === 8) return row('web-8', '1/1', 'Running', '3 (4d ago)');
      if (at === 9) return row('web-9', '1/2', 'Running', '0');
      return row(`web-${at}`, '1/1', 'Running', '0');
    })}`;
    const { text: out } = crush(text);
    assert.ok(out.length * 2 < text.length, out);
    for (const line of text.split('\n').filter((each) => /^(?:NAME|web-[0789]) /.test(each)))
      assert.ok(out.includes(line), line);
    for (let at = 0; at < 40; at += 1) assert.match(out, new RegExp(`\\bweb-${at}\\b`));
    const images = `REPOSITORY   TAG      STATUS\n${repeat(20, (at) => `shop-${at}       1.${at}      ready`)}`;
    assert.equal(crush(images).text, images, 'a table without names is content');
  });

  test('places without a file that was found elsewhere are left out, and a file that was never found stays', () => {
    const text = `${repeat(30, (at) => `openat(AT_FDCWD, "/opt/lib${at}/libfound.so.1", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)`)}openat(AT_FDCWD, "/usr/lib/libfound.so.1", O_RDONLY|O_CLOEXEC) = 3
${repeat(3, (at) => `openat(AT_FDCWD, "/opt/lib${at}/missing.conf", O_RDONLY) = -1 ENOENT (No such file or directory)`)}`;
    const { text: out } = crush(text);
    assert.equal(out.match(/libfound/g)?.length, 2, out);
    assert.equal(out.match(/missing\.conf/g)?.length, 3, out);
    const trace = (name: string, end: string): string =>
      `======== Resolving module '${name}' from '/a/b.ts'. ========\n${repeat(9, (at) => `File '/a/node_modules/${name}/${at}.d.ts' does not exist.`)}======== ${end} ========\n`;
    const traced = crush(
      trace('found', "Module name 'found' was successfully resolved to '/x/found.d.ts'.") +
        trace('lost', "Module name 'lost' was not resolved."),
    ).text;
    assert.equal(traced.match(/node_modules\/found/g)?.length, 1, traced);
    assert.equal(traced.match(/node_modules\/lost/g)?.length, 9, traced);
  });
});
