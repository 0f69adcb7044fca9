import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { impossible, makeStrict, openHere, started } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import {
  answersOf,
  promptSteps,
  takeSteps,
  type WorkerAnswer,
  type WorkerStep,
} from '../../support/processes/worker-calls.ts';
import { until } from '../../support/wait.ts';
import { readFilesBelow } from '../../support/workspaces/folder-files.ts';

const skip = impossible;

function writeAll(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const concept = (title: string): string => `---\ntype: fact\ntitle: ${title}\n---\n${title} is hidden\n`;

/**
 * A strict workspace with a second project that its workers cannot see, and other sessions' files in its data folder.
 */
async function open(t: TestContext) {
  const ws = await makeStrict('projects: [{ id: other, path: ../person/other }]\nshared: { code: [] }\n');
  const elsewhere = join(ws.home, 'other');
  writeAll(elsewhere, {
    'list.md': '- [ ] secret item\n',
    'kb/a.md': concept('elsewhere'),
    'src/x.ts': 'export function hiddenElsewhere() {\n  return 1;\n}\n',
  });
  writeAll(ws.root, {
    '.claude/rules/rule.md': concept('rule'),
    'docs/kept.md': concept('tracked'),
    'src/app.ts': 'export function begin() {\n  return 1;\n}\n',
  });
  ws.repository.git('add', '.claude', 'docs', 'src');
  ws.repository.git('commit', '-qm', 'things');
  const { here } = await openHere(ws);
  t.after(async () => {
    await here.end();
    await ws.close();
  });
  writeAll(join(ws.root, '.svc'), {
    'agents/s-99/brief.md': '- [ ] private item\n',
    'agents/s-99/kb/a.md': concept('private'),
  });
  return { ws, here, elsewhere };
}

const describeAnswers = (steps: readonly WorkerStep[], answers: readonly WorkerAnswer[]): string =>
  answers.map((each, at) => `${JSON.stringify(steps[at])} ${JSON.stringify(each)}`).join('\n');

hostile(
  {
    attacker: 'worker',
    tries: 'have the engine write or read memory folders outside its worktree, by any spelling or link',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const { ws, here, elsewhere } = await open(t);
    await here.call('memory.remember', { title: 'fresh', text: 'a memory' });
    const before = JSON.stringify([
      readFilesBelow(join(ws.root, '.claude')),
      readFilesBelow(join(ws.root, 'docs')),
      readFilesBelow(join(ws.root, '.git', 'hooks')),
      readFilesBelow(join(ws.root, '.svc', 'agents', 's-99')),
      readFilesBelow(elsewhere),
    ]);
    const outside = [
      join(elsewhere, 'kb'),
      '/etc',
      '../../s-99/kb',
      '../s-99',
      'to-home/x',
      'to-data/s-99/kb',
      'deep/to-main/docs',
      'notes/../../../../x',
      '.',
      'notes/..',
    ];
    const closed = [
      ...[
        '.claude/rules',
        '.CLAUDE/rules',
        'notes/../.Claude/x',
        './.codex',
        'a/b/.gemini/c',
        '.cursor/rules',
      ],
      ...[
        '.git',
        '.git/hooks',
        '.GIT/x',
        'a/.git/x',
        '.git./x',
        '.svc',
        '.svc/agents/s-99/kb',
        '.SVC/memory',
      ],
      ...[
        'to-claude/x',
        '.agents/skills',
        '.github/instructions',
        '.vscode',
        '.husky',
        'x/CLAUDE.md',
        'bare/x',
      ],
      ...[join(ws.root, '.claude/rules'), join(ws.root, '.svc/agents/s-99/kb'), join(ws.root, '.git/x')],
    ];
    const prepare = `ln -s ${ws.home} to-home; ln -s ${ws.root}/.svc/agents to-data; mkdir -p deep notes
      ln -s ${ws.root} deep/to-main; ln -s .claude to-claude; mkdir -p bare/objects bare/refs; echo x > bare/HEAD`;
    const both = (dir?: string): WorkerStep[] =>
      ['memory.export', 'memory.import'].map((call) => ({ call, input: dir === undefined ? {} : { dir } }));
    const steps: WorkerStep[] = [
      { shell: prepare },
      ...outside.flatMap(both),
      ...closed.flatMap(both),
      // memory.okf_dir is below .svc.
      ...both(),
      // The worker may use its own files, by each of their names.
      { call: 'memory.export', input: { dir: 'notes/mine' } },
      { call: 'memory.export', input: { dir: join(ws.root, 'notes/mine') } },
      { call: 'memory.import', input: { dir: 'docs' } },
    ];
    for (const profile of ['strict', 'lite']) {
      await here.call('config.set', { key: 'guard.profile', value: profile });
      const { session, answers } = await takeSteps(ws, here, steps);
      assert.equal(here.engine.resolveSession(session).profile, profile);
      const said = describeAnswers(steps, answers);
      const refused = answers.slice(1, -3);
      assert.equal(refused.length, 2 * (outside.length + closed.length + 1));
      for (const [at, { code }] of refused.entries())
        assert.ok(
          code === 'path_outside' || code === 'chair_only',
          `${JSON.stringify(steps[at + 1])} ${said}`,
        );
      assert.deepEqual(
        JSON.stringify([
          readFilesBelow(join(ws.root, '.claude')),
          readFilesBelow(join(ws.root, 'docs')),
          readFilesBelow(join(ws.root, '.git', 'hooks')),
          readFilesBelow(join(ws.root, '.svc', 'agents', 's-99')),
          readFilesBelow(elsewhere),
        ]),
        before,
      );
      const own = answers.slice(-3).map(({ answer }) => answer as { dir: string; added: number });
      const worktree = join(ws.root, '.svc', 'agents', 'worktrees', session);
      assert.deepEqual(
        own.map((each) => each?.dir),
        [join(worktree, 'notes/mine'), join(worktree, 'notes/mine'), join(worktree, 'docs')],
        said,
      );
      assert.ok(!existsSync(join(ws.root, 'notes')), 'the main checkout is unchanged');
      const { memories } = await here.call('memory.list', {});
      assert.deepEqual(memories.map(({ title }) => title).sort(), ['fresh', 'tracked']);
      assert.match(
        ws.repository.git('ls-tree', '-r', '--name-only', `svc/${session}`),
        /notes\/mine\/index\.md/,
      );
    }
    // The worker may write in the checkout itself, except where programs read their configuration.
    const inPlace = closed.filter((dir) => !/^(?:to-|bare)/.test(dir)).flatMap(both);
    const { answers } = await takeSteps(ws, here, inPlace, { inplace: true });
    for (const [at, { code }] of answers.entries())
      assert.equal(code, 'chair_only', JSON.stringify([inPlace[at], answers[at]]));
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'replace a folder of its worktree by a link while the engine writes memories there',
    lite: 'not stopped',
    strict: 'written in its worktree, or refused',
  },
  async (t) => {
    const { ws, here } = await open(t);
    for (let n = 0; n < 50; n += 1)
      await here.call('memory.remember', { title: `memory ${n}`, text: `text ${n}` });
    // The link stays for a moment: otherwise no call might meet it.
    const swap = `mkdir -p real; (while [ ! -e stop ]; do
      rm -rf spot; mkdir -p spot; rm -rf spot; ln -s ${ws.root}/.claude/rules spot; sleep 0.004; done) >/dev/null 2>&1 &`;
    const exported: WorkerStep[] = Array.from({ length: 60 }, (_, n) => ({
      call: 'memory.export',
      input: { dir: `spot/n${n}` },
    }));
    const steps = [{ shell: swap }, ...exported, { shell: 'touch stop' }];
    const { answers } = await takeSteps(ws, here, steps);
    assert.deepEqual(readdirSync(join(ws.root, '.claude', 'rules')), ['rule.md']);
    const codes = new Set(answers.map(({ code }) => code));
    t.diagnostic(`answers: ${[...codes].join(', ')}`);
    assert.ok(answers.some(({ code }) => code !== undefined));
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'probe hidden files by a ledger, an answer, a message, evidence, a memory or a check',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    const { ws, here, elsewhere } = await open(t);
    const hidden = [
      join(elsewhere, 'list.md'),
      '.svc/agents/s-99/brief.md',
      '.SVC/agents/s-99/brief.md',
      'src/../.svc/agents/s-99/brief.md',
      join(ws.root, '.svc/agents/s-99/brief.md'),
      '.git/config',
      '.claude/rules/rule.md',
    ];
    const paths = [...hidden, ...hidden.map((path) => `${path}-gone`)];
    const ask_id = 1;
    const missing = {
      title: 'names',
      text: '.svc/agents/s-99/brief.md and .svc/agents/s-99/none.md and src/app.ts and src/none.ts',
    };
    const perPath = (path: string): WorkerStep[] => [
      { call: 'ledger.show', input: { ledger: path } },
      { call: 'task.claim', input: { ledger: path, item: 1, holder: 'me' } },
      { call: 'task.release', input: { ledger: path, item: 1, holder: '*' } },
      { call: 'ask.answer', input: { id: ask_id, answer: 'there', symbol_ref: { path, line: 1 } } },
      { call: 'ask.answer', input: { id: ask_id, answer: 'there', symbol_ref: { path, symbol: 'secret' } } },
      { call: 'msg.send', input: { to_session: 'chair', body: 'x', payload_path: path } },
      { call: 'verify.report', input: { symbols: [{ path }] } },
      { call: 'guard.check', input: { paths: [path] } },
    ];
    const others: WorkerStep[] = [
      { call: 'guard.check', input: { project: 'other' } },
      {
        call: 'ask.answer',
        input: { id: ask_id, answer: 'x', symbol_ref: { project: 'other', path: 'list.md' } },
      },
      { call: 'code.snippet', input: { symbol: 'hiddenElsewhere', session: 'nobody' } },
      { call: 'code.snippet', input: { symbol: 'hiddenElsewhere', project: 'other' } },
      { call: 'code.snippet', input: { symbol: 'src/x.ts:hiddenElsewhere', project: 'other' } },
      { call: 'graph.symbol', input: { query: 'hiddenElse' } },
    ];
    const steps: WorkerStep[] = [
      ...paths.flatMap(perPath),
      ...others,
      { call: 'memory.remember', input: missing },
      { call: 'memory.recall', input: { query: 'names' } },
      { call: 'guard.check', input: { paths: ['src/app.ts'] } },
      {
        call: 'ask.answer',
        input: { id: ask_id, answer: 'in app', symbol_ref: { path: 'src/app.ts', line: 1 } },
      },
    ];
    // The worker claims to be in the project that it cannot see.
    const wait = 'until [ -e go ]; do sleep 0.05; done';
    const session = await started(here, `steps\n${promptSteps(ws, [{ shell: wait }, ...steps], elsewhere)}`);
    assert.equal((await here.call('ask.open', { question: 'where?', to_session: session })).id, ask_id);
    const worktree = join(ws.root, '.svc', 'agents', 'worktrees', session);
    await until(() => existsSync(worktree), 'the worktree');
    writeFileSync(join(worktree, 'go'), '');
    const answers = (await answersOf(ws, here, session)).slice(1);
    const said = describeAnswers(steps, answers);
    const perEach = perPath('').length;
    const count = paths.length * perEach;
    for (const [at, { code }] of answers.slice(0, count).entries())
      assert.ok(code === 'path_outside' || code === 'chair_only', `${JSON.stringify(steps[at])} ${said}`);
    // Existing and missing files get the same answer.
    const answersAt = (at: number) =>
      answers
        .slice(at * perEach, (at + 1) * perEach)
        .map(({ code, message = '' }) => [code, message.replaceAll('-gone', '')]);
    for (const [at, path] of hidden.entries())
      assert.deepEqual(answersAt(at), answersAt(at + hidden.length), path);
    const rest = answers.slice(count);
    assert.doesNotMatch(
      JSON.stringify(rest.slice(0, others.length)),
      /return 1|"line":1|secret item|src\/x\.ts"/,
      said,
    );
    const [, recalled, checked, last] = rest.slice(others.length);
    assert.deepEqual(
      (recalled as { answer: { memories: { missing_paths?: string[] }[] } }).answer.memories[0]
        ?.missing_paths,
      ['src/none.ts'],
      said,
    );
    assert.equal(checked?.code, undefined, said);
    assert.equal((last as { answer: { status: string } }).answer.status, 'answered', said);
    assert.equal(readFileSync(join(elsewhere, 'list.md'), 'utf8'), '- [ ] secret item\n');
  },
  { skip },
);
