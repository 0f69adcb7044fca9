import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type EngineHost, hostEngine } from '../../../engine/index.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Heard {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the hook as an agent does: in a separate process with JSON on stdin. */
function hook(
  words: readonly string[],
  input: string | Buffer,
  { cwd, env, isOpen = false }: { cwd: string; env: NodeJS.ProcessEnv; isOpen?: boolean },
): Promise<Heard> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SVC, 'hook', ...words], { cwd, env });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (part) => {
      stdout += part;
    });
    child.stderr.on('data', (part) => {
      stderr += part;
    });
    // The hook may exit before it has read everything.
    child.stdin.on('error', () => undefined);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    if (isOpen) child.stdin.write(input);
    else child.stdin.end(input);
  });
}

describe('svc hook', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let host: EngineHost;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws);
    host = await hostEngine(here.engine);
    env = { ...ws.env, SVC_SESSION: 'ada' };
    await here.join('bob');
    await here.call('lock.acquire', { holder: 'bob', path: 'held.ts' });
  });
  after(async () => {
    await host.close();
    await ws.close();
  });

  const say = (body: string): Promise<unknown> => here.call('msg.send', { to_session: 'ada', body });
  const heard = async (words: readonly string[], sent: object): Promise<unknown> => {
    const { code, stdout, stderr } = await hook(words, JSON.stringify(sent), { cwd: ws.root, env });
    assert.deepEqual([code, stderr], [0, '']);
    return stdout === '' ? null : JSON.parse(stdout);
  };
  const write = (path: string, more: object = {}): object => ({
    cwd: ws.root,
    tool_name: 'Write',
    tool_input: { file_path: join(ws.root, path), content: 'x' },
    ...more,
  });

  const CLAUDE_DENY = (answer: unknown): unknown => {
    const { hookSpecificOutput } = answer as { hookSpecificOutput: Record<string, unknown> };
    assert.deepEqual(
      [hookSpecificOutput.hookEventName, hookSpecificOutput.permissionDecision],
      ['PreToolUse', 'deny'],
    );
    return hookSpecificOutput.permissionDecisionReason;
  };
  const field = (name: string) => (answer: unknown) => (answer as Record<string, unknown>)[name];
  const additional = (event: string) => (answer: unknown) => {
    const { hookEventName, additionalContext } = (
      answer as { hookSpecificOutput: { hookEventName: string; additionalContext: unknown } }
    ).hookSpecificOutput;
    assert.equal(hookEventName, event);
    return additionalContext;
  };

  /** For each agent: its event for a write, and the form of a refusal and of a text before and after. */
  const FORMS: {
    agent: string;
    sent(path: string): object;
    deny(answer: unknown): unknown;
    before?(answer: unknown): unknown;
    after?(answer: unknown): unknown;
  }[] = [
    {
      agent: 'claude',
      sent: write,
      deny: CLAUDE_DENY,
      before: additional('PreToolUse'),
      after: additional('PostToolUse'),
    },
    {
      agent: 'codex',
      sent: (path) =>
        write(path, {
          tool_name: 'apply_patch',
          tool_input: {
            command: `*** Begin Patch\n*** Add File: new.ts\n+x\n*** Update File: ${path}\n*** End Patch`,
          },
        }),
      deny: CLAUDE_DENY,
      before: additional('PreToolUse'),
      after: additional('PostToolUse'),
    },
    {
      agent: 'gemini',
      sent: (path) => write(path, { tool_name: 'replace', tool_input: { file_path: path } }),
      deny(answer) {
        assert.equal(field('decision')(answer), 'deny');
        return field('reason')(answer);
      },
      after: additional('AfterTool'),
    },
    {
      agent: 'opencode',
      sent: (path) => write(path, { tool_name: 'edit', tool_input: { filePath: path } }),
      deny: CLAUDE_DENY,
      before: additional('PreToolUse'),
      after: additional('PostToolUse'),
    },
    {
      agent: 'copilot',
      sent: (path) => write(path, { tool_name: 'create', tool_input: { path: join(ws.root, path) } }),
      deny: CLAUDE_DENY,
      before: additional('PreToolUse'),
      after: field('additionalContext'),
    },
    {
      agent: 'qwen',
      sent: (path) => write(path, { tool_name: 'write_file' }),
      deny: CLAUDE_DENY,
      after: additional('PostToolUse'),
    },
    {
      agent: 'kimi',
      sent: (path) => write(path, { tool_name: 'WriteFile', tool_input: { path } }),
      deny: CLAUDE_DENY,
    },
    {
      agent: 'cursor',
      sent: write,
      deny(answer) {
        assert.equal(field('permission')(answer), 'deny');
        return field('agent_message')(answer);
      },
      after: field('additional_context'),
    },
    {
      agent: 'droid',
      sent: (path) => write(path, { tool_name: 'Create' }),
      deny: CLAUDE_DENY,
      after: additional('PostToolUse'),
    },
  ];

  for (const { agent, sent, deny, before: carriedBefore, after: carriedAfter } of FORMS) {
    test(`${agent} gets a refusal for a locked path and a message in its own form`, async () => {
      assert.match(
        String(deny(await heard(['pre-write', '--agent', agent], sent('held.ts')))),
        /bob holds held\.ts/,
      );
      await say(`for ${agent}`);
      const first = await heard(['pre-write', `--agent=${agent}`], sent('free.ts'));
      if (carriedBefore === undefined) assert.equal(first, null);
      else {
        assert.match(String(carriedBefore(first)), new RegExp(`: for ${agent}$`, 'm'));
        await say(`for ${agent}`);
      }
      const second = await heard(['post-tool', '--agent', agent], sent('free.ts'));
      if (carriedAfter === undefined) assert.equal(second, null);
      else assert.match(String(carriedAfter(second)), new RegExp(`: for ${agent}$`, 'm'));
      // Otherwise the next agent would receive it.
      const { messages } = await here.call('msg.inbox', {
        session: 'ada',
        unread: true,
      });
      for (const { id } of messages) await here.call('msg.ack', { id, session: 'ada' });
    });
  }

  test('facts that must survive a compaction are plain text for claude, and absent where they cannot be carried', async () => {
    const ask = (agent: string): Promise<Heard> =>
      hook(['pre-compact', '--agent', agent], '{"trigger":"auto"}', { cwd: ws.root, env });
    assert.match((await ask('claude')).stdout, /^The summary must keep .*\n- your session in svc is ada\n$/);
    assert.match(JSON.parse((await ask('qwen')).stdout).hookSpecificOutput.additionalContext, /is ada$/);
    assert.deepEqual(await ask('codex'), { code: 0, stdout: '', stderr: '' });
    assert.match(JSON.stringify(await heard(['session-start'], { source: 'compact' })), /Your current state/);
  });

  test('a read-only tool is never refused', async () => {
    const { readCall } = await import('../../../cli/hooks/tool-call.ts');
    const writes = (tool_name: string, more: object = {}): boolean =>
      readCall(JSON.stringify({ tool_name, tool_input: { path: 'held.ts', ...more } }), ws.root).writes;
    for (const tool of ['Read', 'read_file', 'Grep', 'mcp__files__get', 'Bash', 'mcp__svc__lock_acquire'])
      assert.equal(writes(tool), false, tool);
    for (const tool of ['mcp__files__write-file', 'MultiEdit', 'NotebookEdit', 'StrReplaceFile', 'Delete'])
      assert.equal(writes(tool), true, tool);
    assert.equal(writes('str_replace_editor', { command: 'view' }), false);
    const patch = '*** Begin Patch\n*** Add File: held.ts\n+x\n*** End Patch';
    assert.equal(writes('Bash', { command: `cd app && apply_patch <<'EOF'\n${patch}\nEOF` }), true);
    assert.equal(writes('Bash', { command: `cat <<'EOF'\n${patch}\nEOF` }), false);
    assert.equal(await heard(['pre-write'], write('held.ts', { tool_name: 'Read' })), null);
  });

  test('the hook loads 27 small files and no package, since an agent waits for it at every tool call', () => {
    const seen = new Set<string>();
    const follow = (url: string): void => {
      if (seen.has(url)) return;
      seen.add(url);
      const code = readFileSync(new URL(url), 'utf8');
      for (const [, name = ''] of code.matchAll(/^import .*?from '([^']+)';$/gm)) {
        if (name.startsWith('.')) follow(new URL(name, url).href);
        else assert.ok(name.startsWith('node:'), `${url} loads ${name}`);
      }
    };
    follow(new URL('../../../cli/hooks/run.js', import.meta.url).href);
    assert.ok(seen.size > 5 && seen.size <= 27, [...seen].join('\n'));
  });

  test('the files of a call are found under each name, and in a patch', async () => {
    const { readCall } = await import('../../../cli/hooks/tool-call.ts');
    const paths = (sent: object): string[] => readCall(JSON.stringify({ cwd: '/w', ...sent }), '/').paths;
    const patch =
      '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n@@\n-*** Add File: no.ts\n*** Delete File: c d.ts\n*** End Patch';
    for (const key of ['file_path', 'path', 'filePath', 'notebook_path'])
      assert.deepEqual(paths({ tool_input: { [key]: 'a.ts', content: patch } }), ['/w/a.ts'], key);
    for (const input of [
      patch,
      { command: patch },
      { command: ['apply_patch', patch] },
      { patchText: patch },
    ])
      assert.deepEqual(paths({ tool_name: 'apply_patch', tool_input: input }), [
        '/w/a.ts',
        '/w/b.ts',
        '/w/c d.ts',
      ]);
    // Neither a path next to the patch nor spaces hide the changed files.
    assert.deepEqual(
      paths({ tool_name: 'apply_patch', tool_input: { path: 'x.ts', input: patch } })[1],
      '/w/a.ts',
    );
    const spaced = patch.replace(/^(?=\*\*\*)/gm, '  ');
    assert.deepEqual(paths({ tool_name: 'apply_patch', tool_input: { input: spaced } })[0], '/w/a.ts');
    assert.deepEqual(paths({ toolName: 'edit', toolArgs: '{"path":"/x/../y"}' }), ['/y']);
    assert.deepEqual(paths({ tool_input: { command: `echo '${patch}'`, path: 7 } }), []);
  });

  const silent = { code: 0, stdout: '', stderr: '' };

  test('bad arguments or bad input never make the hook print or fail', async () => {
    const inputs: [words: string[], input: string | Buffer][] = [
      [['pre-write'], ''],
      [['pre-write'], '{"tool_name": "Write", '],
      [['pre-write'], '[1]'],
      [['pre-write'], 'null'],
      [['pre-write'], JSON.stringify({ tool_name: 7, tool_input: [{}], cwd: 3 })],
      [['pre-write'], Buffer.from([0xff, 0xfe, 0])],
      [['pre-write'], JSON.stringify(write('held.ts', { filler: 'x'.repeat(9 * 1024 * 1024) }))],
      [['pre-write', '--agent', 'nobody'], JSON.stringify(write('held.ts'))],
      [['pre-write', '--agent', 'toString'], JSON.stringify(write('held.ts'))],
      [['pre-write', '--agent'], JSON.stringify(write('held.ts'))],
      [['no-such-event', '--agent', 'claude'], JSON.stringify(write('held.ts'))],
      [[], JSON.stringify(write('held.ts'))],
    ];
    const all = await Promise.all(inputs.map(([words, input]) => hook(words, input, { cwd: ws.root, env })));
    for (const [index, one] of all.entries()) assert.deepEqual(one, silent, `input ${index}`);
  });

  test('the hook is silent and starts nothing without a workspace, an engine or a readable configuration', async () => {
    const input = JSON.stringify(write('held.ts'));
    const { folder } = ws.repository;
    const elsewhere = join(folder, 'elsewhere');
    const other = join(folder, 'other');
    const broken = join(folder, 'broken');
    for (const each of [elsewhere, other, broken]) mkdirSync(each, { recursive: true });
    writeFileSync(join(other, 'svc.yaml'), '');
    writeFileSync(join(broken, 'svc.yaml'), 'daemon: [\n  data: {');
    for (const cwd of [elsewhere, other, broken]) {
      assert.deepEqual(await hook(['pre-write'], input, { cwd, env }), silent, cwd);
    }
    const named = { ...env, SVC_CONFIG: join(folder, 'no', 'svc.yaml') };
    assert.deepEqual(await hook(['pre-write'], input, { cwd: ws.root, env: named }), silent);
    assert.equal(
      (await hook(['pre-write'], input, { cwd: elsewhere, env: { ...env, SVC_CONFIG: ws.root } })).code,
      0,
    );
  });

  test('the hook gives up on an engine that is dead, silent, refuses or answers nonsense, and on an agent that never ends its input', async () => {
    const root = join(ws.repository.folder, 'odd');
    const data = join(root, '.svc');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(root, 'svc.yaml'), '');
    const socket = join(data, 's.sock');
    writeFileSync(join(data, 'daemon.json'), JSON.stringify({ pid: 1, socket }));
    const input = JSON.stringify(write('held.ts'));
    const ask = (): Promise<Heard> => hook(['pre-write'], input, { cwd: root, env });
    const unended = hook(['pre-write'], '{', { cwd: ws.root, env, isOpen: true });
    assert.deepEqual(await ask(), silent);
    const answers: ((open: Socket) => void)[] = [
      () => undefined,
      (open) => open.destroy(),
      (open) => open.write('nonsense\n'),
      (open) => open.write('{"id":2,"error":{"message":"no"}}\n'),
      (open) => open.write('{"id":2,"result":{"deny":7}}\n'),
      (open) => open.write('{"id":2,"result":null}\n'),
    ];
    for (const [index, answer] of answers.entries()) {
      rmSync(socket, { force: true });
      const open = new Set<Socket>();
      const server = createServer((each) => {
        open.add(each.on('error', () => undefined));
        each.once('data', () => answer(each));
      });
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      assert.deepEqual(await ask(), silent, `answer ${index}`);
      for (const each of open) each.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
    writeFileSync(join(data, 'daemon.json'), JSON.stringify({ pid: 1, socket: ws.root }));
    assert.deepEqual(await ask(), silent);
    assert.deepEqual(await unended, silent);
  });
});
