import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import type { RouteModels } from '../../../../../engine/core/models/index.ts';
import { HOOK_EVENTS, type HookEvent } from '../../../../../engine/workers/agents/presets/hook-event.ts';
import { type RunWish, withArguments } from '../../../../../engine/workers/agents/presets/index.ts';
import { presetOf } from '../../../../support/agents/agent-run.ts';

const KEY = 'vk-of-this-run';
const gateway = { url: 'http://127.0.0.1:8788', key: KEY };
const mcp = { command: '/opt/svc', args: ['mcp'], env: { SVC_TASK: 't-1' } };
const hooks = Object.fromEntries(
  HOOK_EVENTS.map((event) => [event, { command: "/opt/it's svc", args: ['hook', event, '--agent', 'x'] }]),
) as Record<HookEvent, { command: string; args: string[] }>;
const NONE: RunWish = { mcp: null, gateway: null, hooks: null, folder: '/s/agent', env: {} };
const ALL: RunWish = { ...NONE, mcp, gateway, hooks };
const NAMES = ['claude', 'gemini', 'qwen', 'kimi'];

for (const name of NAMES) {
  test(`the key of a run of ${name} is in its environment only, and its files in its own folder`, () => {
    const { args, env, files } = presetOf(name).setUpRun(ALL);
    assert.ok(!args.join(' ').includes(KEY));
    assert.ok(Object.values(env).includes(KEY));
    for (const { path, text } of files) {
      assert.ok(path.startsWith('/s/agent/'), path);
      assert.ok(!text.includes(KEY));
    }
    const told = JSON.stringify([args, env, files]);
    assert.ok(told.includes('http://127.0.0.1:8788'));
    assert.ok(told.includes('/opt/svc'));
    assert.ok(told.includes('pre-write'));
  });

  test(`a run of ${name} without requirements starts as the person would start it`, () => {
    const { args, env, files } = presetOf(name).setUpRun(NONE);
    delete env.IS_SANDBOX;
    assert.deepEqual([args, env, files], [[], {}, []]);
  });
}

test('codex trusts its working folders for one run, each once', () => {
  const [option, text = ''] = presetOf('codex').trustFolders?.(['/w/s-1', '/w/"it"', '/w/s-1']) ?? [];
  assert.equal(option, '-c');
  assert.equal(
    JSON.stringify(parse(text)),
    JSON.stringify({
      projects: { '/w/s-1': { trust_level: 'trusted' }, '/w/"it"': { trust_level: 'trusted' } },
    }),
  );
});

const SHELL = (event: string): string => `'/opt/it'\\''s svc' hook ${event} --agent x`;

test('claude is configured by options and variables alone', () => {
  const { args, env } = presetOf('claude').setUpRun({ ...ALL, env: { CLAUDE_CODE_USE_BEDROCK: '1' } });
  const [settings = ''] = args.filter((arg) => arg.startsWith('--settings='));
  const { hooks: entries, env: own, apiKeyHelper } = JSON.parse(settings.slice('--settings='.length));
  assert.deepEqual([own.ANTHROPIC_BASE_URL, own.ANTHROPIC_AUTH_TOKEN], [gateway.url, '']);
  assert.deepEqual([apiKeyHelper, env.SVC_VKEY], ['printenv SVC_VKEY', KEY]);
  assert.deepEqual(entries.PreToolUse, [
    {
      matcher: 'Write|Edit|MultiEdit|NotebookEdit',
      hooks: [{ type: 'command', ...hooks['pre-write'], timeout: 10 }],
    },
  ]);
  assert.deepEqual(Object.keys(entries), [
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'PreCompact',
    'SessionStart',
  ]);
  assert.deepEqual(
    [env.ANTHROPIC_BASE_URL, env.ANTHROPIC_AUTH_TOKEN, env.ANTHROPIC_API_KEY, env.CLAUDE_CODE_USE_BEDROCK],
    [gateway.url, KEY, '', ''],
  );
});

test('gemini has its own home only where its calls go through the gateway', () => {
  assert.deepEqual(presetOf('gemini').setUpRun({ ...ALL, gateway: null }), { args: [], env: {}, files: [] });
  const { env, files } = presetOf('gemini').setUpRun(ALL);
  assert.equal(env.GEMINI_CLI_HOME, '/s/agent/gemini');
  assert.equal(files[0]?.path, '/s/agent/gemini/.gemini/settings.json');
  const settings = JSON.parse(files[0]!.text);
  assert.equal(settings.security.auth.selectedType, 'gemini-api-key');
  assert.deepEqual(settings.mcpServers, { svc: mcp });
  assert.deepEqual(settings.hooks.BeforeTool[0].hooks[0].command, SHELL('pre-write'));
  assert.equal(presetOf('gemini').auth, 'gateway');
});

test("qwen reads its hooks from defaults next to the person's settings, unless the machine has some", () => {
  const { args, env, files } = presetOf('qwen').setUpRun(ALL);
  assert.ok(args.includes('--auth-type=openai'));
  assert.equal(env.OPENAI_BASE_URL, `${gateway.url}/v1`);
  assert.equal(env.QWEN_CODE_SYSTEM_DEFAULTS_PATH, files[0]?.path);
  const { PreToolUse } = JSON.parse(files[0]!.text).hooks;
  assert.equal(PreToolUse[0].hooks[0].command, SHELL('pre-write'));
  const own = { QWEN_CODE_SYSTEM_DEFAULTS_PATH: '/etc/own.json', OPENAI_MODEL: 'mine' };
  const beside = presetOf('qwen').setUpRun({ ...ALL, env: own });
  assert.deepEqual([beside.files, beside.env.OPENAI_MODEL], [[], 'mine']);
});

test('kimi gets its model by variables, and the rest in its own home', () => {
  assert.deepEqual(presetOf('kimi').setUpRun({ ...ALL, gateway: null }), { args: [], env: {}, files: [] });
  const { env, files } = presetOf('kimi').setUpRun(ALL);
  assert.equal(env.KIMI_MODEL_BASE_URL, `${gateway.url}/v1`);
  const text = (name: string): string => files.find(({ path }) => path === `/s/agent/kimi/${name}`)!.text;
  const { hooks: entries } = parse(text('config.toml')) as { hooks: Record<string, unknown>[] };
  assert.deepEqual(
    { ...entries[0] },
    {
      event: 'PreToolUse',
      matcher: '^(Write|Edit)$',
      command: SHELL('pre-write'),
      timeout: 10,
    },
  );
  assert.deepEqual(JSON.parse(text('mcp.json')), { mcpServers: { svc: mcp } });
});

test('an agent learns the context size of the model behind its route, and nothing where it is unknown', () => {
  const limits = { context: 40_960, output: 8192 };
  const told = (name: string, models: RouteModels | undefined, env = {}) =>
    presetOf(name).setUpRun({
      ...NONE,
      env,
      gateway: { ...gateway, ...(models === undefined ? {} : { models }) },
    });
  const other: RouteModels = { named: [], other: limits };
  const named = (model: string): RouteModels => ({ named: [{ name: model, ...limits }], other: null });

  assert.ok(told('codex', other).args.includes('model_context_window=40960'));
  const config = (models?: RouteModels, chosen?: string) => {
    const env = chosen === undefined ? {} : { OPENCODE_CONFIG_CONTENT: JSON.stringify({ model: chosen }) };
    return JSON.parse(told('opencode', models, env).env.OPENCODE_CONFIG_CONTENT!).provider.svc.models;
  };
  assert.deepEqual(config(named('svc')), { svc: { limit: limits } });
  assert.deepEqual(config(undefined, 'openai/gpt-4o'), {
    'gpt-4o': { limit: { context: 128_000, output: 16_384 } },
  });
  assert.deepEqual(config({ named: [{ name: 'svc', context: 8000, output: null }], other: null }), {
    svc: { limit: { context: 8000, output: 2000 } },
  });
  const qwen = JSON.parse(told('qwen', named('mine'), { OPENAI_MODEL: 'mine' }).files[0]!.text);
  assert.equal(qwen.model.generationConfig.contextWindowSize, 40_960);
  const { env: copilot } = told('copilot', named('svc'));
  assert.deepEqual(
    [copilot.COPILOT_PROVIDER_MAX_PROMPT_TOKENS, copilot.COPILOT_PROVIDER_MAX_OUTPUT_TOKENS],
    ['32768', '8192'],
  );
  const gemini = JSON.parse(told('gemini', other).files[0]!.text);
  assert.equal(gemini.model.compressionThreshold, 40_960 / 1_048_576 / 2);
  assert.equal(told('claude', other).env.CLAUDE_CODE_AUTO_COMPACT_WINDOW, '40960');

  const silent: RouteModels = { named: [], other: null };
  for (const name of ['codex', 'opencode', 'qwen', 'copilot', 'gemini', 'claude'])
    for (const models of [undefined, silent])
      assert.doesNotMatch(
        JSON.stringify(told(name, models)),
        /context_window|"limit\\?"|contextWindowSize|MAX_PROMPT|compressionThreshold|COMPACT_WINDOW/,
        name,
      );
});

test('a session is resumed with an option before the prompt', () => {
  const words = ['claude', '-p', '--', '--prompt'];
  assert.deepEqual(presetOf('claude').resume!(words, 'a-1'), [
    'claude',
    '-p',
    '--resume=a-1',
    '--',
    '--prompt',
  ]);
  const long = withArguments(['kimi', '--prompt=-- x'], []);
  assert.deepEqual(presetOf('kimi').resume!(long, 'k'), ['kimi', '--prompt=-- x', '--session=k']);
});
