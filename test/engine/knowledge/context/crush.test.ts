import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crush } from '../../../../engine/knowledge/context/crush/index.ts';

const ROUNDS = 60;

/** Pseudo-random numbers that are the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Random = (below: number) => number;
const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T;
const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random(16).toString(16)).join('');
const uuid = (random: Random): string => [8, 4, 4, 4, 12].map((length) => hex(random, length)).join('-');

const PREFIXES: readonly ((random: Random, at: number) => string)[] = [
  (_, at) =>
    `2026-11-20T10:${String(Math.floor(at / 60) % 60).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}.123Z INFO `,
  (_, at) => `[10:${String(Math.floor(at / 60) % 60).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}] `,
  (random) => `INFO [worker-${random(8)}] `,
  (_, at) =>
    `Nov 20 10:${String(Math.floor(at / 60) % 60).padStart(2, '0')}:${String(at % 60).padStart(2, '0')} host app[812]: `,
];

const TEMPLATES: readonly ((random: Random) => string)[] = [
  (random) => `request ${uuid(random)} handled in ${3 + random(30)} ms`,
  (random) => `Bestellung ${1000 + random(9000)} wurde in ${3 + random(30)} ms verarbeitet`,
  (random) => `commande ${1000 + random(9000)} traitée en ${3 + random(30)} ms`,
  (random) => `pedido ${1000 + random(9000)} procesado en ${3 + random(30)} ms`,
  (random) => `注文 ${1000 + random(9000)} を処理しました ${3 + random(30)} ミリ秒`,
  (random) => `订单 ${1000 + random(9000)} 已处理 用时 ${3 + random(30)} 毫秒`,
  (random) => `заказ ${1000 + random(9000)} обработан за ${3 + random(30)} мс`,
  (random) => `주문 ${1000 + random(9000)} 처리됨 ${3 + random(30)} 밀리초`,
  (random) => `cache hit for key user:${random(5000)}`,
  (random) => `0 errors found in part ${random(500)}`,
];

const ODD = [
  'the configuration was read anew because /etc/shop.toml changed',
  'Lager 7 ist voll, Ware kam in Lager 9',
  'disque /dev/sdb1 remonté en lecture seule',
  '証明書は三日後に期限が切れます',
  'cache miss for key user:77 at store.ts:88',
  'switched to the second database, 41 s behind',
];

describe('crushing an output', () => {
  it('crushing keeps every odd line of random logs, in every language, and counts its omissions', () => {
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = createRandom(seed);
      const prefix = pick(random, PREFIXES);
      const templates = [pick(random, TEMPLATES), pick(random, TEMPLATES), pick(random, TEMPLATES)];
      const lines: string[] = [];
      const planted: string[] = [];
      for (let at = 0; at < 400; at += 1) {
        lines.push(prefix(random, at) + pick(random, templates)(random));
        if (random(80) === 0) {
          const line = prefix(random, at) + pick(random, ODD);
          lines.push(line);
          planted.push(line);
        }
      }
      lines.push('exit code 3');
      const { text, omissions, bytesIn, bytesOut } = crush(lines.join('\n'));
      for (const line of [...planted, 'exit code 3'])
        assert.ok(text.split('\n').includes(line), `${seed}: ${line}`);
      const out = text.split('\n');
      const markers = out.filter((line) => line.startsWith('[svc-crush: ')).length;
      const left = omissions.reduce((sum, { count }) => sum + count, 0);
      assert.equal(out.length - markers + left, lines.length, `${seed}`);
      assert.equal(markers, omissions.length);
      assert.ok(bytesOut < bytesIn * 0.5, `${seed}: ${bytesOut} of ${bytesIn}`);
      assert.equal(crush(text).text, text);
    }
  });

  it('crushing keeps an outlier and a rare value', () => {
    const random = createRandom(7);
    const lines = Array.from({ length: 500 }, (_, at) => {
      const status = at === 77 ? 503 : 200;
      const ms = at === 300 ? 18_234 : 3 + random(40);
      return `10:00:${String(at % 60).padStart(2, '0')} GET /orders/${random(9999)} ${status} ${ms}ms`;
    });
    const { text } = crush(lines.join('\n'));
    assert.match(text, / 503 /);
    assert.match(text, /18234ms/);
  });

  const TRACES: Readonly<Record<string, (kind: 'same' | 'odd', at: number, random: Random) => string[]>> = {
    node: (kind, _, random) => [
      `Error: ${kind === 'same' ? 'pool exhausted' : 'table is gone'} (request ${uuid(random)})`,
      `    at take (/srv/${kind === 'same' ? 'pool.js:71:11' : 'sql.js:19:7'})`,
      '    at store (/srv/orders.js:44:20)',
    ],
    'node, another line only': (kind) => [
      'Error: pool exhausted',
      `    at take (/srv/pool.js:${kind === 'same' ? 71 : 72}:11)`,
      '    at store (/srv/orders.js:44:20)',
    ],
    python: (kind) => [
      'Traceback (most recent call last):',
      `  File "/srv/orders.py", line ${kind === 'same' ? 14 : 15}, in store`,
      '    charge(order)',
      kind === 'same' ? "KeyError: 'token'" : 'OSError: disk is full',
    ],
    java: (kind, at) => [
      `java.lang.IllegalStateException: order ${at} not stored`,
      '\tat shop.Orders.store(Orders.java:44)',
      `Caused by: java.io.IOException: ${kind === 'same' ? 'connection reset' : 'disk /dev/sdb1 is full'}`,
      `\tat shop.Pool.take(Pool.java:${kind === 'same' ? 71 : 19})`,
      '\t... 12 more',
    ],
    ruby: (kind) => [
      `orders.rb:44:in 'store': ${kind === 'same' ? 'no connection' : 'no table'} (RuntimeError)`,
      `\tfrom pool.rb:${kind === 'same' ? 71 : 19}:in 'take'`,
      "\tfrom main.rb:3:in '<main>'",
    ],
  };

  for (const [language, trace] of Object.entries(TRACES)) {
    it(`crushing keeps the one trace that differs among ninety equal ones (${language})`, () => {
      const random = createRandom(3);
      const traces = Array.from({ length: 91 }, (_, at) => trace(at === 57 ? 'odd' : 'same', at, random));
      const { text, bytesIn, bytesOut, omissions } = crush(`${traces.flat().join('\n')}\n`);
      assert.ok(text.includes((traces[57] as string[]).join('\n')), text);
      assert.ok(text.includes((traces[0] as string[]).join('\n')));
      assert.ok(bytesOut < bytesIn / 4);
      const size = (traces[0] as string[]).length;
      assert.equal(
        omissions.reduce((sum, { count }) => sum + count, 0),
        89 * size,
      );
    });
  }

  const rows = (count: number, line: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => line(at)).join('\n');
  const two = (number: number): string => String(number).padStart(2, '0');
  const issues = Array.from({ length: 40 }, (_, at) => ({
    number: at + 1,
    title: `${pick(createRandom(at), ['Login', 'Export', 'Search'])} fails for tenant ${at}`,
    state: at % 7 === 0 ? 'closed' : 'open',
    labels: ['bug'],
  }));

  /** Requested content, although its rows are alike. */
  const CONTENT: Readonly<Record<string, string>> = {
    'an answer of a tracker as JSON': JSON.stringify({ total: 40, issues }),
    'the same over many lines, below a line of the program': `40 issues\n${JSON.stringify(issues, null, 2)}`,
    'a list of names with its length': JSON.stringify({
      slugs: Array.from({ length: 120 }, (_, at) => `r${at}`),
      total: 120,
    }),
    'five records with long texts on one line': JSON.stringify(
      Array.from({ length: 5 }, (_, at) => ({ name: `domain-${at}`, text: 'what it holds '.repeat(60) })),
    ),
    'numbers that no double holds': `[${rows(90, (at) => `${at}12345678901234567890,`)}0]`,
    'objects of JSON between blanks': rows(60, (at) =>
      JSON.stringify({ title: `Result ${at}`, url: `/r/${at}` }),
    ),
    'lines of JSON with a level of a game': rows(200, (at) =>
      JSON.stringify({ date: `2026-01-${two(1 + (at % 28))}`, level: at % 5, player: `p${at}` }),
    ),
    'ports and their networks': rows(
      220,
      (at) => `Port ${at + 1} is assigned to VLAN ${10 + ((at * 7) % 90)}`,
    ),
    'steps that are numbered': rows(60, (at) => `[${at + 1}/60] Port ${at} goes to VLAN ${at * 3}`),
    'reasons as CSV': `id,reason\n${rows(300, (at) => `${at},${at % 17 === 0 ? 'disk full' : 'timeout waiting for lock'}`)}`,
    'reasons alone': `reason\n${rows(300, (at) => (at % 17 === 0 ? 'disk full' : 'timeout waiting for lock'))}`,
    'measurements as CSV': `time,host,degrees\n${rows(300, (at) => `2026-11-20T10:${two(at % 60)}:00Z,host-${at % 7},${20 + (at % 5)}.${at % 10}`)}`,
    'measurements with tabs': `time\thost\n${rows(90, (at) => `2026-11-20 10:${two(at % 60)}:00\thost-${at}`)}`,
    'measurements of a program': rows(60, (at) => `run took ${at} ms`),
    'a list with ticks': rows(
      60,
      (at) => `✓ Chapter ${at} was read by ${pick(createRandom(at), ['ada', 'bob'])}`,
    ),
    'a list with bullets of a spinner': rows(60, (at) => `◐ Task ${at} is in review`),
    'a list that begins with ok': rows(60, (at) => `ok ${at} parcels from shop ${at * 2}`),
    'how full disks are': rows(40, (at) => `disk${at}  ${(at * 7) % 100}% [##########----------]`),
    'sensors that are collected': rows(
      60,
      (at) => `Collecting metrics from sensor ${at}: ${at * 1.5} degrees`,
    ),
    'ports in use': rows(60, (at) => `Using port ${8000 + at}`),
    'files of a release': rows(30, (at) => `Download for platform ${at} (${at} MB)`),
    'trains of a day': rows(
      60,
      (at) => `${two(5 + (at % 19))}:30 Train ${at} to Bern from platform ${at % 8}`,
    ),
    'bookings of an account': rows(
      60,
      (at) => `2026-01-${two(1 + (at % 28))} Invoice ${at}: ${at * 3}.50 EUR`,
    ),
    'users and their roles, with a level': rows(60, (at) => `INFO user ${at} has role ${at % 3}`),
    'links that were checked': rows(60, (at) => `  OK https://example.test/page/${at}`),
    'pods of a cluster': `NAME READY STATUS RESTARTS AGE\n${rows(80, (at) => `web-${at}-abc12   1/1   Running   ${at % 5}   ${at}d`)}`,
    'contexts of a cluster': rows(80, (at) => `aks-region${at}-prod`),
    'packages in columns': `Package Version\n------- -------\n${rows(80, (at) => `package-${at} ${at}.1.0`)}`,
    'manifests of a chart': rows(
      60,
      (at) => `---\nkind: Service\nmetadata:\n  name: web-${at}\nspec:\n  port: ${8000 + at}`,
    ),
    'merges in a history': rows(60, (at) => `${two(at)}e0c23 Merge branch 'feature-${at}'`),
    'distinct lines': rows(
      120,
      (at) => `Line ${String(at).padStart(4, '0')}: the quick brown fox jumps over the lazy dog`,
    ),
    'warnings about columns': rows(60, (at) => `Warning: column ${at} of table ${at % 7} has no index`),
  };
  for (const [what, text] of Object.entries(CONTENT))
    it(`crushing leaves ${what} unchanged`, () => {
      const { text: left, omissions } = crush(text);
      assert.deepEqual([left === text, omissions], [true, []], left.slice(0, 400));
    });

  it('crushing lists every name with its number from the folded lines, in order', () => {
    const logs: readonly [
      prefix: (at: number) => string,
      message: (at: number) => string,
      told: (at: number) => string,
    ][] = [
      [
        (at) => `2026-11-20T10:${two(at % 60)}:00Z `,
        (at) => `Port ${at} is assigned to VLAN ${10 + ((at * 7) % 90)}`,
        (at) => `Port ${at} VLAN ${10 + ((at * 7) % 90)}`,
      ],
      [
        (at) => `10:00:${two(at % 60)} INFO `,
        (at) => `order ${4000 + at * 3} stored in ${at % 9} ms`,
        (at) => `order ${4000 + at * 3}`,
      ],
      [
        (at) => `Nov 20 10:${two(at % 60)}:00 host app[812]: `,
        (at) => `deployed ${(0xabc1234 + at * 77).toString(16)} to node-${at % 5}`,
        (at) => (0xabc1234 + at * 77).toString(16),
      ],
      [
        () => '',
        (at) =>
          JSON.stringify({
            level: 30,
            time: 1_763_600_000 + at,
            orderId: at * 11,
            responseTime: at % 7,
            msg: 'stored',
          }),
        (at) => `orderId:${at * 11}`,
      ],
    ];
    for (const [prefix, message, told] of logs) {
      const { text, omissions, bytesIn, bytesOut } = crush(rows(200, (at) => prefix(at) + message(at)));
      assert.equal(omissions.length, 1, text.slice(0, 300));
      assert.ok(bytesOut < bytesIn * 0.7, `${bytesOut} of ${bytesIn}`);
      let from = 0;
      for (let at = 1; at < 200; at += 1) {
        const found = text.indexOf(told(at), from);
        assert.ok(found >= 0 || text.includes(message(at)), `${told(at)} in ${text.slice(0, 300)}`);
        from = Math.max(from, found);
      }
    }
  });

  it('crushing folds consecutive steps of a counter, and none where one is missing', () => {
    const steps = (left: (at: number) => boolean): string =>
      rows(300, (at) => (left(at) ? '' : `copying record ${at + 1} of 300 into customers\n`)).replace(
        /\n+/g,
        '\n',
      );
    assert.match(crush(steps(() => false)).text, /299 earlier steps left out/);
    const missing = steps((at) => at === 120);
    assert.equal(crush(missing).text, missing);
  });

  it('crushing leaves a list of names, linter findings and a manifest unchanged', () => {
    const names = Array.from({ length: 50 }, (_, at) => ({ name: `package-${at}`, version: `${at}.1.0` }));
    const findings = Array.from({ length: 50 }, (_, at) => ({
      file: 'a.ts',
      line: at,
      message: `unused ${at}`,
    }));
    const manifest = {
      name: 'shop',
      dependencies: {},
      packages: names.map((each) => ({ ...each, size: 3 })),
    };
    for (const value of [names, findings, manifest]) {
      const text = JSON.stringify(value, null, 2);
      assert.equal(crush(text).text, text);
    }
  });

  it('crushing leaves files with repeated lines unchanged, recognised by their start', () => {
    const rows = (count: number, line: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => line(at));
    const files = {
      'a table of structures': [
        'package limits',
        '',
        'var known = []limit{',
        ...rows(60, (at) => `\t{"net.queue.${at % 4}", []int{${at}, 6}},`),
        '}',
      ],
      'a table of strings': [
        '""" Which character a byte stands for.',
        '"""',
        'TABLE = (',
        ...rows(90, () => "    '\\ufffe'"),
        ')',
      ],
      'a header': [
        '#ifndef SHELF_H',
        '#define SHELF_H',
        ...rows(
          40,
          (at) => `#ifdef WITH_${at}\nBuilding file ${at} of the shelf takes what it says.\n#endif`,
        ),
        '#endif',
      ],
      'a page': [
        '<!DOCTYPE html>',
        '<html>',
        ...rows(40, (at) => `<div class="row">\nCompiling object ${at}\n<pre>\nok ${at}\n</pre>\n</div>`),
        '</html>',
      ],
      'a module with its manual': [
        'package Shelf::Row;',
        ...rows(
          30,
          (at) =>
            `=item row_${at}\n\nok ${at} - is what it prints\n\n=cut\n\nsub row_${at} {\n    my $row = shift;\n}`,
        ),
      ],
    };
    for (const [what, lines] of Object.entries(files)) {
      const text = `${lines.join('\n')}\n`;
      assert.equal(crush(text).text, text, what);
    }
  });

  it('crushing removes colours, and keeps the last state of redrawn lines and any other text', () => {
    const states = Array.from(
      { length: 101 },
      (_, at) => `\rDownloading ${at}% |${'#'.repeat(at / 10)}| ${at}/100 MB`,
    );
    states.splice(40, 0, '\rmirror 3 does not answer, trying mirror 4');
    const { text } = crush(`\u001b[32mbegin\u001b[0m\n${states.join('')}\n\u001b[1mend\u001b[22m\n`);
    assert.ok(!text.includes('\u001b') && !text.includes('\r'));
    for (const line of ['begin', 'mirror 3 does not answer, trying mirror 4', 'end'])
      assert.ok(text.split('\n').includes(line), text);
    assert.match(text, /Downloading 100% \|##########\| 100\/100 MB/);
    assert.doesNotMatch(text, /Downloading 50%/);
    assert.match(text, /\[svc-crush: \d+ redrawn states of lines left out; all: /);
  });

  it('crushing follows a display of several lines that is drawn in place', () => {
    const frame = (at: number): string => `app   ${at}% done\nweb   ${at}% done\n`;
    const drawn = Array.from(
      { length: 20 },
      (_, at) => (at === 0 ? '' : '\u001b[2A\u001b[2K') + frame(at * 5 + 5),
    );
    const { text } = crush(`${drawn.join('')}finished\n`);
    assert.match(text, /^app {3}100% done\nweb {3}100% done\nfinished$/m);
    assert.equal(text.match(/done/g)?.length, 2);
  });

  it('every marker says how to get the rest', () => {
    const text = Array.from({ length: 200 }, (_, at) => `INFO request ${at} done`).join('\n');
    assert.match(crush(text, { whole: 'context_retrieve c-12ab' }).text, /; all: context_retrieve c-12ab\]/);
  });

  it('failures that differ in more than amounts are not folded', () => {
    const lines = Array.from(
      { length: 40 },
      (_, at) => `FAILED tests/test_cart.py::test_case_${at} - assert ${at} == ${at + 1}`,
    );
    const head = '============================= test session starts =============================';
    const { text } = crush([head, ...lines, '40 failed in 1.2s'].join('\n'));
    for (const line of lines) assert.ok(text.includes(line), line);
  });

  it('crushing is not misled by markers in its input', () => {
    const random = createRandom(9);
    const texts = [
      '',
      '\n',
      ' ',
      '\u0000binary\u0000',
      '[svc-crush: 3 more',
      '\r'.repeat(10_000),
      '\b'.repeat(10_000),
      `${'['.repeat(5000)}${']'.repeat(5000)}`,
      'a'.repeat(300_000),
      'a b '.repeat(50_000),
      '\u001b['.repeat(20_000),
      `\u001b]${'x'.repeat(100_000)}`,
      `${'\u001b[9999999999A'}x\n`.repeat(500),
      `${' '.repeat(2000)}|`.repeat(200),
      '# Subtest: x\n'.repeat(3000),
      '│ '.repeat(20_000),
      `{"a":${'{"a":'.repeat(3000)}1${'}'.repeat(3001)}`,
      '\ud800 half a character\n'.repeat(50),
      // Inputs that make backtracking patterns slow.
      '1'.repeat(100_000),
      '.'.repeat(100_000),
      '\n'.repeat(200_000),
      Array.from({ length: 900 }, (_, at) => `${' '.repeat(at)}x y`).join('\n'),
      Array.from({ length: 3000 }, () => String.fromCharCode(1 + random(0x3000))).join(''),
    ];
    for (const text of texts) {
      const once = crush(text);
      assert.ok(once.bytesOut <= once.bytesIn, JSON.stringify(text.slice(0, 40)));
      assert.equal(crush(once.text).text, once.text, JSON.stringify(text.slice(0, 40)));
    }
  });

  it('crushing again changes nothing, and never grows, for random mixtures of everything', () => {
    const parts = [
      '✓ adds (2 ms)',
      '  ✗ fails',
      '    at a (/b/c.js:1:2)',
      'ok 1 - x',
      'not ok 2 - y',
      '  ---',
      '  ...',
      '',
      ' ',
      '\r50%',
      '\u001b[31mred\u001b[0m',
      'npm http fetch GET 200 https://a.test/b 3ms',
      '   Compiling a v1.0.0',
      'INFO 1 a b c',
      'Traceback (most recent call last):',
      '  File "a", line 1',
      'ValueError: x',
      '[1/9] a',
      '\u001b[1A',
      '{"a":1}',
      '[1,2]',
      '# Subtest: x',
      '▶ x',
      '✔ x (1ms)',
      '#5 DONE 0.1s',
      '{',
      '}',
      'diff --git a b',
      '@@ -1 +1 @@',
    ];
    for (let seed = 1; seed <= ROUNDS * 5; seed += 1) {
      const random = createRandom(seed);
      const lines = Array.from({ length: random(120) }, () => pick(random, parts));
      const few = parts.slice(0, 2 + random(6));
      lines.push(...Array.from({ length: random(60) }, () => pick(random, few)));
      const text = lines.join(pick(random, ['\n', '\r\n', '\n\n']));
      const once = crush(text);
      assert.ok(once.bytesOut <= once.bytesIn, `${seed}`);
      assert.equal(crush(once.text).text, once.text, `${seed}`);
    }
  });
});
