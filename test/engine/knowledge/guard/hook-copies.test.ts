import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Api } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Look {
  deny: string | null;
  context: string[];
}

const ORIGINAL = `export function sumByDay(entries, zone) {
  const sums = new Map();
  for (const entry of entries) {
    if (entry.amount <= 0 || entry.isVoid) continue;
    const day = formatDay(entry.at, zone);
    const before = sums.get(day) ?? 0;
    sums.set(day, before + entry.amount * (1 + entry.tax / 100));
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
}
`;
const RENAMED = ORIGINAL.replaceAll('sumByDay', 'totals')
  .replaceAll('entry', 'row')
  .replaceAll('sums', 'all');

describe('the guard of copies', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(ws.root, path)), { recursive: true });
    writeFileSync(join(ws.root, path), text);
  };
  const lookAtAll = async (path: string, wish: Partial<Api['hook.look']['input']> = {}): Promise<Look> =>
    here.call('hook.look', {
      event: 'pre-write',
      agent: 'claude',
      cwd: ws.root,
      paths: [join(ws.root, path)],
      tool: 'Write',
      writes: [{ path: join(ws.root, path), text: RENAMED }],
      ...wish,
    });
  /** Removes the note about a timeout, which can occur on any machine. */
  const look: typeof lookAtAll = async (path, wish) => {
    const { deny, context } = await lookAtAll(path, wish);
    return { deny, context: context.filter((text) => !/could be checked/.test(text)) };
  };
  /** A write passes until the files have been read. */
  const lookUntilTold = (path: string, wish: Partial<Api['hook.look']['input']> = {}): Promise<Look> =>
    until(async () => {
      const found = await look(path, wish);
      return found.deny !== null || found.context.length > 0 ? found : null;
    });
  const configure = async (guard: string): Promise<void> => {
    writeFileSync(join(ws.root, 'svc.yaml'), `workspace: { name: test }\nguard: ${guard}\n`);
    await ws.agree();
    await here.call('engine.reload');
  };

  before(async () => {
    ws = await makeWorkspace();
    write('src/sums.js', ORIGINAL);
    here = await engineHere(ws);
  });
  after(async () => {
    await here.close();
    await ws.close();
  });

  test('an agent learns that a write was not checked, unless it is neither code nor text', async () => {
    // No file has been read yet.
    const { deny, context } = await lookAtAll('src/new.js');
    assert.equal(deny, null);
    assert.match(context.join('\n'), /Not all of this write could be checked in time/);
    const png = join(ws.root, 'src/picture.png');
    const writes = [{ path: png, text: RENAMED }];
    assert.deepEqual(await lookAtAll('src/picture.png', { paths: [png], writes }), {
      deny: null,
      context: [],
      wants_output: false,
    });
  });

  test('an agent learns before it writes that a copy exists, and where', async () => {
    const { deny, context } = await lookUntilTold('src/new.js');
    assert.equal(deny, null);
    const text = context.join('\n');
    assert.match(text, /src\/new\.js:1-10 \(totals\) repeats src\/sums\.js:1-10 \(sumByDay\)/);
    assert.match(text, /the same except for names and literals, 100 % of the function/);
    assert.match(text, /^ {4}export function sumByDay\(entries, zone\) \{$/m);
  });

  test('the file itself, a moved file, a file that is not source and one outside are not copies', async () => {
    await lookUntilTold('src/new.js');
    assert.deepEqual((await look('src/sums.js')).context, []);
    assert.deepEqual((await look('src/notes.txt')).context, []);
    assert.deepEqual((await look('node_modules/x/index.js')).context, []);
    assert.deepEqual(
      (await look('/elsewhere/new.js', { writes: [{ path: '/elsewhere/new.js', text: RENAMED }] })).context,
      [],
    );
    const writes = [
      { path: join(ws.root, 'src/sums.js'), removed: true },
      { path: join(ws.root, 'src/new.js'), text: RENAMED },
    ];
    assert.deepEqual((await look('src/new.js', { writes })).context, []);
    const moved = [
      {
        path: join(ws.root, 'src/sums.js'),
        edits: [{ old: ORIGINAL, new: 'export const left = 1;\n', all: false }],
      },
      { path: join(ws.root, 'src/new.js'), text: RENAMED },
    ];
    assert.deepEqual((await look('src/new.js', { writes: moved })).context, []);
    const generated = [{ path: join(ws.root, 'src/new.js'), text: `// @generated\n${RENAMED}` }];
    assert.deepEqual((await look('src/new.js', { writes: generated })).context, []);
  });

  test('an original is found where one of its places is gone', async () => {
    write('src/a-first.js', ORIGINAL);
    await look('src/a-first.js', { event: 'post-tool', writes: [] });
    await until(async () => /a-first\.js|sums\.js/.test((await look('src/new.js')).context.join()));
    rmSync(join(ws.root, 'src/a-first.js'));
    const { context } = await lookUntilTold('src/new.js');
    assert.match(context.join(), /repeats src\/sums\.js/);
  });

  test('an edit is checked for its new text only', async () => {
    write('src/other.js', `export const one = 1;\n${RENAMED}`);
    const edits = [{ old: 'one = 1', new: 'one = 2', all: false }];
    const path = join(ws.root, 'src/other.js');
    assert.deepEqual((await look('src/other.js', { writes: [{ path, edits }] })).context, []);
    rmSync(path);
    write('src/third.js', 'export const one = 1;\n');
    const added = [{ old: 'one = 1;\n', new: `one = 1;\n${RENAMED}`, all: false }];
    const { context } = await lookUntilTold('src/third.js', {
      writes: [{ path: join(ws.root, 'src/third.js'), edits: added }],
    });
    assert.match(context.join('\n'), /src\/third\.js:2-11/);
  });

  test('a file that another tool has just written is known at the next write', async () => {
    write(
      'src/fresh.js',
      ORIGINAL.replaceAll('amount', 'price').replace('isVoid', 'isFree || entry.isGift(zone)'),
    );
    await look('src/fresh.js', { event: 'post-tool', writes: [] });
    const text = ORIGINAL.replaceAll('amount', 'price').replace('isVoid', 'isFree || entry.isGift(zone)');
    const writes = [{ path: join(ws.root, 'src/new.js'), text }];
    const found = await until(async () => {
      const { context } = await look('src/new.js', { writes });
      return /fresh\.js/.test(context.join('\n')) ? context : null;
    });
    assert.match(found.join('\n'), /repeats src\/fresh\.js:1-10/);
    rmSync(join(ws.root, 'src/fresh.js'));
    assert.doesNotMatch((await look('src/new.js', { writes })).context.join('\n'), /fresh\.js/);
  });

  test('block refuses types 1 and 2 and reports type 3; off and the profile none do neither', async () => {
    await configure('{ dup: { mode: block } }');
    const { deny } = await lookUntilTold('src/new.js');
    assert.match(deny ?? '', /repeats src\/sums\.js/);
    assert.match(deny ?? '', /Nothing was written/);
    const edited = ORIGINAL.replace('    const before', '    count += 1;\n    const before');
    const third = await lookUntilTold('src/new.js', {
      writes: [{ path: join(ws.root, 'src/new.js'), text: edited }],
    });
    assert.equal(third.deny, null);
    assert.match(third.context.join('\n'), /with small edits/);
    for (const off of [
      '{ dup: { mode: off } }',
      '{ profile: none, dup: { mode: block } }',
      '{ profile: bring }',
    ]) {
      await configure(off);
      const { deny, context } = await look('src/new.js');
      assert.deepEqual({ deny, context }, { deny: null, context: [] });
    }
    await configure('{ profile: strict }');
    assert.match((await lookUntilTold('src/new.js')).deny ?? '', /Nothing was written/);
    await configure('{}');
  });

  test("shared and strict refuse a write to shared code without the session's own lock", async () => {
    writeFileSync(
      join(ws.root, 'svc.yaml'),
      'workspace: { name: test }\nguard: { profile: shared }\nshared: { javascript: [lib/shared] }\n',
    );
    ws.agree();
    await here.call('engine.reload');
    const ada = { seat: 'plain', sessionId: 'ada' } as const;
    await here.join('ada');
    const path = join(ws.root, 'lib/shared/a.js');
    const ask = () =>
      here.call(
        'hook.look',
        { event: 'pre-write', agent: 'claude', cwd: ws.root, paths: [path], tool: 'Write' },
        ada,
      );
    const { deny } = await ask();
    assert.match(deny ?? '', /a\.js is shared code \(lib\/shared\), and you hold no lock on it/);
    assert.match(deny ?? '', /lock_acquire/);
    assert.match(deny ?? '', /search_shared_symbols/);
    await here.call('lock.acquire', { holder: 'ada', path: 'lib/shared' }, ada);
    assert.equal((await ask()).deny, null);
    await here.call('lock.release', { holder: 'ada', path: 'lib/shared' }, ada);
    await configure('{}');
    assert.equal((await ask()).deny, null);
  });

  test("texts in another language than the project's are reported, and refused under strict", async () => {
    const gates = (guard: string): string =>
      `workspace: { name: test, locale: en, code_lang: en }\nguard: ${guard}\n`;
    const set = async (guard: string): Promise<void> => {
      writeFileSync(join(ws.root, 'svc.yaml'), gates(guard));
      ws.agree();
      await here.call('engine.reload');
    };
    await set('{ dup: { mode: off } }');
    const german = '// Liest die Datei neu ein, wenn sich ihre Größe geändert hat\nexport const size = 1;\n';
    const code = [{ path: join(ws.root, 'src/size.js'), text: german }];
    const told = await lookUntilTold('src/size.js', { writes: code });
    assert.match(
      told.context.join('\n'),
      /src\/size\.js:1: the comment is German, but the project writes English: “Liest die Datei/,
    );
    const prose = [
      { path: join(ws.root, 'notes.md'), text: '# Notes\n\nDas ist nur ein kurzer Text über die Dateien.\n' },
    ];
    assert.match(
      (await lookUntilTold('notes.md', { writes: prose })).context.join('\n'),
      /notes\.md:3: the text is German/,
    );
    await set('{ profile: strict, dup: { mode: off } }');
    assert.match((await lookUntilTold('src/size.js', { writes: code })).deny ?? '', /Nothing was written/);
    write('notes.md', prose[0]!.text);
    const report = await here.call('guard.check', { paths: ['.'] });
    assert.equal(report.refused, true);
    assert.deepEqual(
      report.languages.map(({ path, line, found, wanted }) => [path, line, found, wanted]),
      [['notes.md', 3, 'de', 'en']],
    );
    rmSync(join(ws.root, 'notes.md'));
    await configure('{}');
  });

  test('guard.check finds copies in files, in uncommitted changes and in a range', async () => {
    write('src/twice.js', RENAMED);
    const known = await here.call('guard.check', {});
    assert.deepEqual(
      known.copies.map(({ path, original }) => [path, original.path]),
      [['src/sums.js', 'src/twice.js']],
    );
    const named = await here.call('guard.check', { paths: ['src/twice.js'] });
    assert.deepEqual(
      named.copies.map(({ path, type, original }) => [path, type, original.path, original.from]),
      [['src/twice.js', 2, 'src/sums.js', 1]],
    );
    assert.equal(named.refused, false);
    assert.deepEqual((await here.call('guard.check', { paths: ['nothing'] })).unread, ['nothing']);
    ws.repository.git('add', 'src/sums.js');
    ws.repository.git('commit', '-qm', 'sums');
    const [first] = (await here.call('guard.check', {})).copies;
    assert.deepEqual([first?.path, first?.original.path], ['src/twice.js', 'src/sums.js']);
    ws.repository.git('add', '-A');
    ws.repository.git('commit', '-qm', 'twice');
    assert.deepEqual((await here.call('guard.check', {})).copies, []);
    const range = await here.call('guard.check', { range: 'HEAD~1..HEAD' });
    assert.deepEqual(
      range.copies.map(({ path }) => path),
      ['src/twice.js'],
    );
    await assert.rejects(here.call('guard.check', { range: 'no..where' }), { code: 'git_failed' });
    await assert.rejects(here.call('guard.check', { range: '--output=x' }), { code: 'git_failed' });
    await assert.rejects(here.call('guard.check', { paths: ['../x'] }), { code: 'path_outside' });
    await assert.rejects(here.call('guard.check', { paths: ['src'], range: 'HEAD' }), { code: 'usage' });
    rmSync(join(ws.root, 'src/twice.js'));
  });

  test('nothing outside the project is read through any link', async () => {
    mkdirSync(join(ws.repository.folder, 'outside'));
    const secret = ORIGINAL.replaceAll('amount', 'salary').replace(
      'isVoid',
      'isSecret || entry.hidden(zone)',
    );
    writeFileSync(join(ws.repository.folder, 'outside', 'secret.js'), secret);
    symlinkSync(join(ws.repository.folder, 'outside'), join(ws.root, 'link'));
    symlinkSync(join(ws.repository.folder, 'outside', 'secret.js'), join(ws.root, 'src', 'alias.js'));
    const { copies } = await here.call('guard.check', { paths: ['.'] });
    assert.deepEqual(copies, []);
    const writes = [{ path: join(ws.root, 'src/new.js'), text: secret }];
    assert.doesNotMatch((await look('src/new.js', { writes })).context.join('\n'), /secret|alias|link/);
  });

  test('a damaged fingerprint file is rebuilt', async () => {
    await here.close();
    writeFileSync(join(ws.root, '.svc', 'guard.db'), 'no database, but some text of more than a few bytes');
    here = await engineHere(ws);
    assert.match((await lookUntilTold('src/new.js')).context.join('\n'), /src\/sums\.js/);
  });
});
