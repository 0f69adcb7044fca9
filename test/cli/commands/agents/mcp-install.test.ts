import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { parse } from 'smol-toml';
import { makeWorkspace, type Ran, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Report {
  client: string;
  scope: 'project' | 'user';
  file: string;
  change: 'created' | 'added' | 'replaced' | 'none';
  written: boolean;
  entry: Record<string, unknown>;
}

describe('svc mcp install', () => {
  let ws: TestWorkspace;
  let home: string;
  let bin: string;
  before(async () => {
    ws = await makeWorkspace();
    bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    // npm installs the program as a link like this.
    chmodSync(SVC, 0o755);
    symlinkSync(SVC, join(bin, 'svc'));
  });
  beforeEach(() => {
    home = join(ws.repository.folder, 'person');
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
  });
  after(() => ws.close());

  const install = (words: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
    ws.svc(['mcp', 'install', ...words], {
      env: { HOME: home, PATH: [bin, process.env.PATH].join(delimiter), ...env },
    });
  const report = async (words: readonly string[], env: Record<string, string> = {}): Promise<Report> => {
    const ran = await install([...words, '--json'], env);
    assert.equal(ran.code, 0, ran.stderr);
    return ran.json<Report>();
  };
  const refused = async (...words: string[]): Promise<{ code: number; error: string; all: string }> => {
    const { code, stdout, stderr, json } = await install([...words, '--json']);
    return { code, error: json<{ error: { code: string } }>().error.code, all: stdout + stderr };
  };
  const put = (file: string, text: string): string => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };

  const SHAPES: [client: string, file: string, text: unknown][] = [
    [
      'claude',
      '.mcp.json',
      { mcpServers: { svc: { type: 'stdio', command: 'svc', args: ['mcp'], env: {} } } },
    ],
    ['gemini', '.gemini/settings.json', { mcpServers: { svc: { command: 'svc', args: ['mcp'] } } }],
    [
      'opencode',
      'opencode.json',
      {
        $schema: 'https://opencode.ai/config.json',
        mcp: { svc: { type: 'local', command: ['svc', 'mcp'] } },
      },
    ],
    ['qwen', '.qwen/settings.json', { mcpServers: { svc: { command: 'svc', args: ['mcp'] } } }],
    ['cursor', '.cursor/mcp.json', { mcpServers: { svc: { command: 'svc', args: ['mcp'] } } }],
    [
      'droid',
      '.factory/mcp.json',
      { mcpServers: { svc: { type: 'stdio', command: 'svc', args: ['mcp'], disabled: false } } },
    ],
  ];
  for (const [client, name, expected] of SHAPES) {
    test(`svc mcp install writes the project's file of ${client} once, also from a folder inside`, async () => {
      const cwd = join(ws.root, 'inside');
      mkdirSync(cwd, { recursive: true });
      const env = { HOME: home, PATH: [bin, process.env.PATH].join(delimiter) };
      const first = (await ws.svc(['mcp', 'install', client, '--json'], { cwd, env })).json<Report>();
      const file = join(ws.root, name);
      assert.deepEqual(
        [first.scope, first.file, first.change, first.written],
        ['project', file, 'created', true],
      );
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), expected);
      const { mtimeMs, ino } = statSync(file);
      const again = await report([client]);
      assert.deepEqual([again.change, again.written], ['none', false]);
      assert.deepEqual([statSync(file).mtimeMs, statSync(file).ino], [mtimeMs, ino]);
      assert.match((await install([client])).stdout, /^nothing to do: .* has it already$/m);
      assert.deepEqual(readdirSync(home), []);
    });
  }

  test('svc mcp install writes the file for all folders where there is none for a project, readable by its owner only', async () => {
    const copilot = await report(['copilot']);
    assert.deepEqual([copilot.scope, copilot.file], ['user', join(home, '.copilot', 'mcp-config.json')]);
    assert.deepEqual(JSON.parse(readFileSync(copilot.file, 'utf8')), {
      mcpServers: { svc: { tools: ['*'], type: 'local', command: 'svc', args: ['mcp'] } },
    });
    assert.equal(statSync(copilot.file).mode & 0o777, 0o600);
    const kimi = await report(['kimi']);
    assert.deepEqual([kimi.scope, kimi.file], ['user', join(home, '.kimi-code', 'mcp.json')]);
    assert.deepEqual(kimi.entry, { command: 'svc', args: ['mcp'] });
    const codex = await report(['codex']);
    assert.equal(codex.file, join(home, '.codex', 'config.toml'));
    const { env_vars, ...rest } = (
      parse(readFileSync(codex.file, 'utf8')) as { mcp_servers: { svc: { env_vars: string[] } } }
    ).mcp_servers.svc;
    assert.deepEqual({ ...rest }, { command: 'svc', args: ['mcp'] });
    for (const name of ['SVC_SESSION', 'SVC_TASK', 'SVC_RUN_ID', 'SVC_CONFIG'])
      assert.ok(env_vars.includes(name));
  });

  test('svc mcp install finds the file for all folders by the variables of the clients', async () => {
    const files: [string, string, string][] = [
      ['claude', 'CLAUDE_CONFIG_DIR', '.claude.json'],
      ['codex', 'CODEX_HOME', 'config.toml'],
      ['gemini', 'GEMINI_CLI_HOME', '.gemini/settings.json'],
      ['opencode', 'XDG_CONFIG_HOME', 'opencode/opencode.json'],
      ['copilot', 'COPILOT_HOME', 'mcp-config.json'],
      ['qwen', 'QWEN_HOME', 'settings.json'],
      ['kimi', 'KIMI_CODE_HOME', 'mcp.json'],
    ];
    for (const [client, variable, name] of files) {
      const folder = join(home, client);
      const made = await report([client, '--user'], { [variable]: folder });
      assert.deepEqual([made.scope, made.file], ['user', join(folder, name)], client);
      assert.ok(existsSync(made.file));
    }
  });

  test('a file keeps its comments, formatting, mode and link', async () => {
    const real = put(
      join(home, 'dotfiles', 'opencode.jsonc'),
      '// mine\r\n{\r\n\t"model": "a/b", // the good one\r\n\t/* servers */\r\n\t"mcp": {\r\n\t\t"other": { "type": "remote", "url": "https://example.org" },\r\n\t},\r\n}\r\n',
    );
    chmodSync(real, 0o664);
    mkdirSync(join(home, '.config', 'opencode'), { recursive: true });
    const link = join(home, '.config', 'opencode', 'opencode.jsonc');
    symlinkSync(real, link);
    const { file, change } = await report(['opencode', '--user']);
    assert.deepEqual([file, change], [link, 'added']);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(statSync(real).mode & 0o777, 0o664);
    const text = readFileSync(real, 'utf8');
    for (const kept of [
      '// mine\r\n',
      '// the good one\r\n',
      '\t/* servers */\r\n',
      '"url": "https://example.org"',
    ]) {
      assert.ok(text.includes(kept), text);
    }
    assert.match(text, /\r\n\t\t"svc": \{\r\n\t\t\t"type": "local",/);
    assert.equal((await report(['opencode', '--user'])).change, 'none');
    assert.deepEqual(readdirSync(join(home, 'dotfiles')), ['opencode.jsonc']);
  });

  test('another server called svc is replaced only when necessary', async () => {
    const text =
      '{\n  "mcpServers": {\n    "svc": { "command": "other" },\n    "b": { "command": "b" }\n  }\n}\n';
    const file = put(join(home, '.cursor', 'mcp.json'), text);
    const { code, error } = await refused('cursor', '--user');
    assert.deepEqual([code, error], [5, 'exists']);
    const shown = await report(['cursor', '--user', '--print']);
    assert.deepEqual([shown.change, shown.written], ['replaced', false]);
    assert.equal(readFileSync(file, 'utf8'), text);
    assert.equal((await report(['cursor', '--user', '--force'])).change, 'replaced');
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
      mcpServers: { svc: { command: 'svc', args: ['mcp'] }, b: { command: 'b' } },
    });
  });

  test('a file that cannot be read or extended is left alone, and nothing of it is printed', async () => {
    const texts = [
      '{ "token": "s3cret", ',
      '["s3cret"]',
      '{ "mcpServers": "s3cret" }',
      '{"mcpServers":{},"mcpServers":{"s3cret":{}}}',
    ];
    for (const text of texts) {
      const file = put(join(home, '.cursor', 'mcp.json'), text);
      const { code, error, all } = await refused('cursor', '--user', '--force');
      assert.deepEqual([code, error], [2, 'config_invalid'], text);
      assert.equal(readFileSync(file, 'utf8'), text);
      assert.ok(!all.includes('s3cret') && all.includes(file), all);
    }
    for (const text of ['a = \n', 'mcp_servers = { other = { command = "x" } }\n', 'mcp_servers = 3\n']) {
      const file = put(join(home, '.codex', 'config.toml'), text);
      assert.equal((await refused('codex')).error, 'config_invalid', text);
      assert.equal(readFileSync(file, 'utf8'), text);
    }
  });

  test('one table is added to a TOML file, and only that table is ever replaced', async () => {
    const top = '# mine\nmodel = "m" # best\nnotes = """\n[mcp_servers.svc]\n"""\nlist = [\n  ["a"],\n]\n\n';
    const bottom = "\n# about b\n[mcp_servers.b]\ncommand = 'x'\n\n[[rows]]\nn = 9223372036854775807";
    const file = put(join(home, '.codex', 'config.toml'), top + bottom);
    assert.equal((await report(['codex'])).change, 'added');
    const added = readFileSync(file, 'utf8');
    assert.ok(added.startsWith(`${top}${bottom}\n\n[mcp_servers.svc]\n`));
    assert.equal((await report(['codex'])).change, 'none');

    const old =
      '# about svc\n[mcp_servers.svc]\ncommand = "old"\n\n# its own\n[mcp_servers.svc.env]\nA = """\n[x]\n"""\n';
    writeFileSync(file, top + old + bottom);
    assert.equal((await refused('codex')).error, 'exists');
    assert.equal((await report(['codex', '--force'])).change, 'replaced');
    const replaced = readFileSync(file, 'utf8');
    assert.ok(replaced.startsWith(`${top}# about svc\n[mcp_servers.svc]\ncommand = "svc"\n`), replaced);
    assert.ok(replaced.endsWith(bottom), replaced);
    assert.ok(!replaced.includes('old') && !replaced.includes('A = '));

    writeFileSync(file, '[mcp_servers]\nsvc = { command = "old" }\n');
    assert.equal((await refused('codex', '--force')).error, 'config_invalid');
  });

  test('svc names itself by its path where svc on the path is another program', async () => {
    rmSync(join(ws.root, '.mcp.json'), { force: true });
    const { stderr, stdout } = await install(['claude', '--print'], { PATH: dirname(process.execPath) });
    assert.ok(stdout.startsWith(`would create ${join(ws.root, '.mcp.json')}:\n`), stdout);
    const { mcpServers } = JSON.parse(stdout.slice(stdout.indexOf('{')));
    assert.deepEqual([mcpServers.svc.command, mcpServers.svc.args], [process.execPath, [SVC, 'mcp']]);
    assert.match(stderr, /do not share it/);
    assert.ok(!existsSync(join(ws.root, '.mcp.json')));
  });

  test('svc mcp install knows its clients', async () => {
    const { code, error } = await refused('emacs');
    assert.deepEqual([code, error], [2, 'usage']);
  });
});
