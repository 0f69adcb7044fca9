import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import {
  findPreset,
  HEADLESS,
  type McpServer,
  PASSED_ON,
  type RunSetup,
  withArguments,
} from '../../../../../engine/workers/agents/presets/index.ts';
import { splitCommand } from '../../../../../engine/workers/agents/template.ts';

const mcpForRun = (preset: string, mcp: McpServer, env: Record<string, string> = {}): RunSetup =>
  findPreset(preset)!.setUpRun({ mcp, gateway: null, hooks: null, folder: '/nowhere', env });

const server: McpServer = { command: '/opt/a "b"\u007f/svc', args: ['mcp', 'x y'], env: { SVC_TASK: "t'1" } };

test('options are added where they are still parsed as options', () => {
  assert.deepEqual(withArguments(['a', '-p', '--', '--x'], ['--y']), ['a', '-p', '--y', '--', '--x']);
  assert.deepEqual(withArguments(['npx', 'a'], ['--y', '1']), ['npx', 'a', '--y', '1']);
  const { args } = mcpForRun('claude', server)!;
  assert.equal(args.length, 1);
  const whole = withArguments(splitCommand(HEADLESS.claude!), args);
  assert.deepEqual(whole.slice(-3), [args[0], '--', '{{prompt}}']);
});

test('a server for one run is written in the form that each agent reads', () => {
  const { command, env } = server;
  const json = (preset: string, flag: string) => {
    const [word = '', ...rest] = mcpForRun(preset, server).args;
    assert.ok(word.startsWith(`${flag}=`) && rest.length === 0);
    return JSON.parse(word.slice(flag.length + 1));
  };
  const plain = { command, args: ['mcp', 'x y'], env };
  assert.deepEqual(json('claude', '--mcp-config'), { mcpServers: { svc: { type: 'stdio', ...plain } } });
  assert.deepEqual(json('qwen', '--mcp-config'), { mcpServers: { svc: plain } });
  assert.deepEqual(json('copilot', '--additional-mcp-config'), {
    mcpServers: { svc: { type: 'local', tools: ['*'], ...plain } },
  });
  const [flag, value = ''] = mcpForRun('codex', server).args.slice(2);
  assert.equal(flag, '-c');
  assert.deepEqual(JSON.parse(JSON.stringify(parse(value))), {
    mcp_servers: { svc: { ...plain, env_vars: PASSED_ON, required: true } },
  });
  assert.deepEqual(JSON.parse(mcpForRun('opencode', server).env.OPENCODE_CONFIG_CONTENT!), {
    mcp: { svc: { type: 'local', command: [command, 'mcp', 'x y'], environment: env, enabled: true } },
  });
});

test("the person's configuration of opencode is kept, and one that cannot be extended is refused", () => {
  const given = (text: string) => mcpForRun('opencode', server, { OPENCODE_CONFIG_CONTENT: text }).env;
  const { model, mcp } = JSON.parse(given('{"model":"m","mcp":{"a":{}}}').OPENCODE_CONFIG_CONTENT!);
  assert.deepEqual([model, Object.keys(mcp)], ['m', ['a', 'svc']]);
  for (const text of ['{', '[]', '{"mcp":1}']) assert.throws(() => given(text), { code: 'config_invalid' });
});

test('agents without such a way get no configuration, and the reason is given', () => {
  for (const preset of ['gemini', 'kimi', 'cursor', 'droid', 'kiro']) {
    assert.deepEqual(mcpForRun(preset, server), { args: [], env: {}, files: [] });
    assert.ok(findPreset(preset)?.cannot.mcp);
  }
});
