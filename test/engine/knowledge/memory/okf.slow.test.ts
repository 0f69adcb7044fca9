import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { readConcept } from '../../../../engine/knowledge/memory/okf/concept.ts';
import { readFilesBelow } from '../../../support/workspaces/folder-files.ts';
import { memoryRig } from './rig.ts';

type Rig = ReturnType<typeof memoryRig>;
interface Imported {
  added: number;
  replaced: number;
  unchanged: number;
  skipped: { path: string; reason: string }[];
  redacted: string[];
}

function writeAll(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const bundleOf = (rig: Rig): string => join(rig.folder, 'okf');
const exportFrom = (rig: Rig, more: object = {}) => rig.person.call('memory.export', more);
const importInto = (rig: Rig, more: object = {}) => rig.person.call('memory.import', more);
/** Another workspace that has imported this one's bundle. */
async function moveBundle(from: Rig): Promise<{ to: Rig; done: Imported }> {
  const to = memoryRig();
  to.clock.set(from.clock.now());
  cpSync(bundleOf(from), bundleOf(to), { recursive: true });
  return { to, done: await importInto(to) };
}

const HOSTILE = [
  '../../etc/passwd',
  'x'.repeat(400),
  '数据库连接池',
  'データベース',
  'caf\u00e9',
  'cafe\u0301',
  'Index',
  'log',
  'index.md',
  'yes',
  'null',
  '~',
  '1.0',
  '2026-01-01',
  '- list',
  'key: value # comment',
  'it\'s "quoted" \\ {flow: [x]}',
  '&anchor *alias !tag |',
  '%YAML 1.2',
  '---',
  'a\n---\ntype: fake\n---\n',
  '\u0000\u0007\u001b[2J\u0085\u2028\ufeff\u007f',
  ' leading and trailing ',
  '[link](javascript:alert(1)) * _x_',
  'CON',
  '😀🏳️‍🌈',
  '<script>',
  'tab\tand\rreturn',
];
const BODIES = [
  '---\ntype: x\n---\nbody',
  '\n\nstarts with lines',
  'ends with lines\n\n\n',
  '\r\nwindows\r\n',
  'ends in a return\r',
  '# Heading\n\n# Citations\n\nno list, only words',
  '```\ncode\n```',
  '\u0000 \u2028',
];

/** Pseudo-random numbers that are the same every time. */
function makeNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('a bundle of the Open Knowledge Format', () => {
  test('an export that is imported elsewhere and exported again is identical to the byte', async () => {
    for (const seed of [1, 2, 3]) {
      const pick = makeNumbers(seed);
      const any = (all: readonly string[]): string => all[pick(all.length)] ?? '';
      const from = memoryRig({ todo: 30 });
      const ids: string[] = [];
      const titles = new Map<string, string>();
      for (const [at, title] of [...HOSTILE, ...HOSTILE].entries()) {
        from.clock.advance(pick(100_000_000));
        const by = any(['person', 'worker', 'stranger']) as 'person' | 'worker' | 'stranger';
        const { id } = await from[by].call('memory.remember', {
          title,
          text: `${any(BODIES)}${at % 3 === 0 ? any(HOSTILE) : ''}${any(BODIES)} ${at}`,
          type: any(['fact', 'todo', 'decision', 'x-y_z']),
          tags: any(['', 'a,b', 'yes, 1.0, null, #x']),
          ...(pick(2) === 0 ? {} : { source: any(HOSTILE) }),
        });
        ids.push(id);
        titles.set(id, title);
      }
      for (const id of ids)
        await [
          () => from.person.call('memory.forget', { id }),
          () => from.person.call('memory.keep', { id }).catch(() => undefined),
          () => from.person.call('memory.edit', { id, text: `edited ${id}` }).catch(() => undefined),
          () => undefined,
        ][pick(4)]?.();
      await exportFrom(from, { all: true });
      const first = readFilesBelow(bundleOf(from));
      const { to, done } = await moveBundle(from);
      assert.deepEqual(done.skipped, []);
      for (const [id, title] of titles)
        assert.equal((await to.person.call('memory.show', { id })).title, title);
      const shown = async (rig: Rig, id: string) => {
        const { text, tags, source, state, type, superseded_by, changed_at, ended_at } =
          await rig.person.call('memory.show', { id });
        return { text, tags, source, state, type, superseded_by, changed_at, ended_at };
      };
      for (const id of ids) assert.deepEqual(await shown(to, id), await shown(from, id));
      await exportFrom(to, { all: true });
      assert.deepEqual(readFilesBelow(bundleOf(to)), first);
      assert.equal(
        new Set(Object.keys(first).map((path) => path.normalize('NFC').toLowerCase())).size,
        Object.keys(first).length,
      );
      from.close();
      to.close();
    }
  });

  test('every file conforms to the format', async () => {
    const rig = memoryRig({ todo: 30 });
    await rig.worker.call('memory.remember', {
      title: 'Index',
      text: 'One\nTwo',
      tags: 'a',
      type: 'todo',
      source: 'ticket 7',
    });
    await rig.person.call('memory.remember', { title: 'log', text: 'Three' });
    const waits = await rig.stranger.call('memory.remember', {
      title: 'From outside',
      text: 'Four',
    });
    const kept = await rig.stranger.call('memory.remember', { title: 'Kept', text: 'Five' });
    await rig.person.call('memory.keep', { id: kept.id });
    await exportFrom(rig);
    const files = readFilesBelow(bundleOf(rig));
    const concepts = Object.entries(files).filter(([path]) => !/(?:^|\/)(?:index|log)\.md$/.test(path));
    assert.equal(concepts.length, 4);
    const of = (title: string) =>
      concepts
        .map(([, text]) => parse(text.split('---\n')[1] ?? '') as Record<string, unknown>)
        .find((each) => each.title === title);
    const authorOf = (title: string) => (of(title)?.generated as { by: string } | undefined)?.by;
    const { generated, svc, ...todo } = of('Index') ?? {};
    assert.deepEqual(todo, {
      type: 'todo',
      title: 'Index',
      description: 'One',
      tags: ['a'],
      status: 'stable',
      stale_after: '2026-02-01T03:04:05.000Z',
      sources: [{ id: 'source', resource: 'ticket 7' }],
    });
    assert.deepEqual(generated, { by: 'claude/opus', at: '2026-01-02T03:04:05.000Z' });
    assert.match((svc as { id: string }).id, /^m-/);
    assert.equal(authorOf('log'), 'human:ada');
    assert.equal(authorOf('From outside'), 'codex/unknown');
    assert.equal(of('From outside')?.status, 'draft');
    assert.deepEqual(of('Kept')?.verified, [{ by: 'human:ada', at: '2026-01-02T03:04:05.000Z' }]);
    assert.match(
      files['index.md'] ?? '',
      /^---\nokf_version: "0\.2"\n---\n\n# Folders\n\n\* \[fact\]\(fact\/\) - 3 in it\n/,
    );
    assert.match(
      files['fact/index.md'] ?? '',
      new RegExp(
        `^# Concepts\\n\\n[\\s\\S]*^\\* \\[From outside\\]\\(from-outside-${waits.id.slice(2)}\\.md\\) - Four$`,
        'm',
      ),
    );
    assert.match(files['log.md'] ?? '', /^# Log\n\n## 2026-01-02\n\* \*\*Update\*\*: \[/);
    rig.close();
  });

  const FOREIGN = {
    'index.md': '---\nokf_version: "0.2"\n---\n\n# Tables\n\n* [Orders](tables/orders.md) - all of them\n',
    'log.md': '# Log\n\n## 2026-05-22\n* **Update**: x\n',
    'tables/index.md': '# Tables\n',
    'tables/orders.md':
      '---\ntype: BigQuery Table # of sales\ntitle: Orders\nresource: https://x.example/orders\ntags: [sales,   revenue]\nowner: {team: a, pager: 007}\nratio: 1.50\nbig: 123456789012345678901\ngenerated: { by: agent/g-2, at: 2026-05-28T14:30:00+02:00 }\nverified: { by: human:bo, at: 2026-06-25 }\nsources:\n  - id: s1\n    resource: https://x.example/spec\n    usage_count: 5000\n  - {id: s2, resource: all queries}\n---\n# Schema\n\nSee [gone](/tables/gone.md).[^s1]\n',
    'tables/bare.md': '---\ntype: 表\n---\n',
    'old.md':
      '---\ntype: Playbook\ntimestamp: 2025-01-02\nextra: kept\n---\n\nDo it [1].\n\n# Citations\n\n[1] [Guide](https://x.example/guide)\n[2] https://x.example/more\n',
  };

  test('a bundle of other programs is imported whole and exported with everything that svc does not know', async () => {
    const rig = memoryRig();
    writeAll(join(rig.folder, 'kb'), FOREIGN);
    const done = await importInto(rig, { dir: 'kb' });
    assert.deepEqual(done, { ...done, added: 3, skipped: [], redacted: [] });
    const { memories } = await rig.person.call('memory.list', {});
    assert.deepEqual(memories.map(({ type, title, source }) => [type, title, source]).sort(), [
      ['bigquery-table', 'Orders', 'https://x.example/spec'],
      ['concept', 'bare', null],
      ['playbook', 'old', 'https://x.example/guide'],
    ]);
    await exportFrom(rig);
    const files = readFilesBelow(bundleOf(rig));
    assert.deepEqual(Object.keys(files), [
      'index.md',
      'log.md',
      'old.md',
      'tables/bare.md',
      'tables/index.md',
      'tables/orders.md',
    ]);
    const orders = files['tables/orders.md'] ?? '';
    for (const kept of [
      'type: BigQuery Table # of sales',
      'pager: 007',
      'ratio: 1.50',
      'big: 123456789012345678901',
      'usage_count: 5000',
      'by: agent/g-2, at: 2026-05-28T14:30:00+02:00',
      '2026-06-25',
      'resource: all queries',
      '[gone](/tables/gone.md).[^s1]',
    ])
      assert.ok(orders.includes(kept), `${kept} in ${orders}`);
    const old = files['old.md'] ?? '';
    assert.doesNotMatch(old, /timestamp|# Citations/);
    assert.match(old, /extra: kept/);
    assert.match(old, /id: "?1"?\n\s+resource: https:\/\/x\.example\/guide\n\s+title: Guide/);
    assert.match(old, /at: 2025-01-02T00:00:00\.000Z/);
    assert.match(files['tables/bare.md'] ?? '', /^---\ntype: 表\n/);
    const { to } = await moveBundle(rig);
    await exportFrom(to);
    assert.deepEqual(readFilesBelow(bundleOf(to)), files);
    assert.deepEqual(await importInto(to), {
      dir: bundleOf(to),
      added: 0,
      replaced: 0,
      unchanged: 3,
      skipped: [],
      more_skipped: 0,
      redacted: [],
    });
    // Fields unknown to svc survive a new wording; fields that described the old one do not.
    const [{ id } = { id: '' }] = memories.filter(({ title }) => title === 'Orders');
    await rig.person.call('memory.edit', { id, text: 'New words.' });
    await exportFrom(rig);
    const edited = readFileSync(join(bundleOf(rig), 'tables/orders.md'), 'utf8');
    assert.match(edited, /pager: 007/);
    assert.doesNotMatch(edited, /g-2|human:bo/);
    rig.close();
    to.close();
  });

  test('a file that is not a concept is skipped with its reason, and no link is followed', async () => {
    const rig = memoryRig();
    const outside = writeAll(join(memoryRig().folder, 'outside'), {
      'secret.md': '---\ntype: fact\n---\nsecret',
    });
    const folder = writeAll(join(rig.folder, 'kb'), {
      'good.md': '---\r\ntype: fact\r\n---\r\n\r\nfine\r\n',
      'plain.md': 'no frontmatter',
      'open.md': '---\ntype: fact\nnever closed',
      'broken.md': '---\ntype: [a\n---\n',
      'list.md': '---\n- type\n---\n',
      'twice.md': '---\ntype: a\ntype: b\n---\n',
      'empty.md': '---\ntype: ""\n---\n',
      'typeless.md': '---\ntitle: x\n---\n',
      'bomb.md': `---\ntype: x\na0: &a0 [1,1,1,1,1,1,1,1,1]\n${Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`).join('\n')}\n---\n`,
      'long.md': `---\ntype: fact\n---\n${'long '.repeat(30_000)}`,
      'title.md': `---\ntype: fact\ntitle: ${'t'.repeat(1001)}\n---\n`,
      'notes.txt': 'x',
      '.hidden/x.md': '---\ntype: fact\n---\n',
    });
    writeFileSync(join(folder, 'latin.md'), Buffer.from([...Buffer.from('---\ntype: fact\n---\n'), 0xe9]));
    writeFileSync(join(folder, 'huge.md'), '---\ntype: fact\n---\n');
    truncateSync(join(folder, 'huge.md'), 10 * 1024 * 1024);
    symlinkSync(join(outside, 'secret.md'), join(folder, 'link.md'));
    symlinkSync(outside, join(folder, 'out'));
    symlinkSync('.', join(folder, 'loop'));
    const done = await importInto(rig, { dir: 'kb' });
    assert.equal(done.added, 1);
    assert.deepEqual(Object.fromEntries(done.skipped.map(({ path, reason }) => [path, reason])), {
      '.hidden': 'it is hidden',
      'bomb.md': 'its frontmatter repeats itself too often (aliases)',
      'broken.md': 'its frontmatter is not YAML (bad_indent)',
      'empty.md': 'it has no type',
      'huge.md': 'it has 10485760 bytes, but at most 1048576 are read',
      'latin.md': 'it is not UTF-8',
      'link.md': 'it is a link',
      'list.md': 'its frontmatter is not a map',
      'long.md': 'its text has more than 100000 characters',
      loop: 'it is a link',
      'notes.txt': 'it is not markdown',
      'open.md': 'it does not start with a frontmatter between two lines of ---',
      out: 'it is a link',
      'plain.md': 'it does not start with a frontmatter between two lines of ---',
      'title.md': 'its title has more than 1000 characters',
      'twice.md': 'its frontmatter is not YAML (duplicate_key)',
      'typeless.md': 'it has no type',
    });
    assert.equal((await rig.person.call('memory.recall', { query: 'fine' })).memories.length, 1);
    await assert.rejects(importInto(rig, { dir: outside }), { code: 'path_outside' });
    await assert.rejects(importInto(rig, { dir: 'nowhere' }), { code: 'not_found' });
    await assert.rejects(exportFrom(rig, { dir: '../elsewhere' }), { code: 'path_outside' });
    rig.close();
  });

  test('an export removes no file that the memory lacks', async () => {
    const rig = memoryRig();
    const { id } = await rig.person.call('memory.remember', { title: 'Heron', text: 'grey' });
    await exportFrom(rig);
    const file = `fact/heron-${id.slice(2)}.md`;
    const before = readFilesBelow(bundleOf(rig));
    const refuses = async (files: Record<string, string>, about: RegExp) => {
      writeAll(bundleOf(rig), files);
      const there = readFilesBelow(bundleOf(rig));
      await assert.rejects(
        exportFrom(rig),
        (error: Error & { code: string }) => error.code === 'exists' && about.test(error.message),
      );
      assert.deepEqual(readFilesBelow(bundleOf(rig)), there);
      rmSync(bundleOf(rig), { recursive: true });
      writeAll(bundleOf(rig), before);
    };
    await refuses({ 'mine.md': '---\ntype: fact\n---\nwritten by hand\n' }, /mine\.md would be lost/);
    await refuses({ 'picture.png': 'x' }, /picture\.png would be lost/);
    await refuses({ 'index.md': '# My own index\n' }, /index\.md would be lost/);
    await refuses({ [file]: (before[file] ?? '').replace('grey', 'white') }, /heron/);
    mkdirSync(join(rig.folder, 'src'));
    writeFileSync(join(rig.folder, 'src/a.ts'), '');
    await assert.rejects(exportFrom(rig, { dir: 'src' }), { code: 'exists' });
    // Importing the manual edit supersedes the old text; after that nothing can be lost.
    writeAll(bundleOf(rig), { [file]: (before[file] ?? '').replaceAll('grey', 'white') });
    assert.equal((await importInto(rig)).replaced, 1);
    assert.equal((await rig.person.call('memory.show', { id })).state, 'superseded');
    await exportFrom(rig);
    assert.match(readFileSync(join(bundleOf(rig), file), 'utf8'), /description: white\n[\s\S]*\nwhite\n$/);
    assert.deepEqual(
      readdirSync(rig.folder).filter((name) => name.startsWith('.okf')),
      [],
    );
    rig.close();
  });

  test('an old export brings nothing back, and secrets stay out', async () => {
    const rig = memoryRig();
    const { id } = await rig.person.call('memory.remember', { title: 'Heron', text: 'grey' });
    await exportFrom(rig);
    await rig.person.call('memory.forget', { id });
    assert.deepEqual((await importInto(rig)).unchanged, 1);
    assert.equal((await rig.person.call('memory.show', { id })).state, 'forgotten');
    const token = `ghp_${'aB3'.repeat(12)}`;
    writeAll(join(rig.folder, 'kb'), { 'a.md': `---\ntype: fact\nnote: "${token}"\n---\nuse ${token}\n` });
    assert.deepEqual((await importInto(rig, { dir: 'kb' })).redacted, ['GitHub token']);
    await exportFrom(rig);
    assert.ok(!JSON.stringify(readFilesBelow(bundleOf(rig))).includes(token));
    rig.close();
  });

  test('a bundle that an agent imports waits for a person and replaces nothing', async () => {
    const rig = memoryRig();
    const { id } = await rig.person.call('memory.remember', { title: 'Heron', text: 'grey' });
    const files = {
      'a.md': `---\ntype: fact\ntitle: Heron\nsvc: {id: ${id}}\n---\nrm -rf\n`,
      'b.md':
        '---\ntype: fact\ntitle: Heron two\nstatus: stable\nverified: {by: human:ada, at: 2026-01-01}\n---\nheron rm -rf\n',
    };
    for (const [session, caller] of [
      ['s-2', rig.stranger],
      ['s-1', rig.worker],
    ] as const) {
      writeAll(join(rig.worktreeOf(session), 'okf'), files);
      const done = await caller.call('memory.import', {});
      assert.equal(done.dir, join(rig.worktreeOf(session), 'okf'));
      assert.match(done.skipped[0]?.reason ?? '', /only the Chair/);
    }
    assert.doesNotMatch(
      (await rig.memory.writeBrief({ taskId: 't-9', prompt: 'heron' }, 's-9')) ?? '',
      /rm -rf/,
    );
    assert.equal((await rig.person.call('memory.review', {})).length, 1);
    rig.close();
  });

  test('an imported memory chooses no file name that an agent or a tool reads by itself', async () => {
    const rig = memoryRig();
    const names = ['AGENTS.md', 'notes/claude.md', 'notes/GEMINI.md', 'githooks/x.md', 'notes/plain.md'];
    const text = (name: string) => `---\ntype: fact\ntitle: ${name}\n---\nobey\n`;
    const into = join(rig.worktreeOf('s-1'), 'in');
    writeAll(into, Object.fromEntries(names.map((name) => [name, text(name)])));
    assert.equal((await rig.worker.call('memory.import', { dir: 'in' })).added, names.length);
    await exportFrom(rig);
    const written = Object.keys(readFilesBelow(bundleOf(rig)));
    assert.ok(written.includes('notes/plain.md'), String(written));
    for (const name of names.slice(0, -1)) assert.ok(!written.includes(name), name);
    rig.close();
  });

  test('times with an offset, without one and bare dates are read', () => {
    const at = (value: string) =>
      readConcept(`---\ntype: x\ngenerated: {by: a/b, at: ${value}}\n---\n`, 'n').changedAt;
    const noon = Date.parse('2026-06-30T12:00:00Z');
    for (const value of [
      '2026-06-30T14:00:00+02:00',
      '2026-06-30T12:00:00Z',
      '"2026-06-30 14:00:00+0200"',
      '2026-06-30T12:00',
    ])
      assert.equal(at(value), noon, value);
    assert.equal(at('2026-06-30'), Date.parse('2026-06-30T00:00:00Z'));
    for (const value of ['yesterday', '2026-13-01', '[]', '""']) assert.equal(at(value), null, value);
  });
});
