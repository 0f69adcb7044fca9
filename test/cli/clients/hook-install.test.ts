import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { findHookFile, writeHookLines } from '../../../cli/clients/hook-files.ts';
import { planHooks } from '../../../cli/clients/hook-install.ts';
import { SHAPES } from '../../../cli/hooks/shapes.ts';
import { PRESETS, type RunSetup, type RunWish } from '../../../engine/workers/agents/presets/index.ts';
import { presetOf } from '../../support/agents/agent-run.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

test("removing the hooks leaves other people's hooks, and no empty file", async (t) => {
  const root = temporaryFolder();
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, others] of [
    ['claude', '{"model": "a-model"}\n'],
    ['codex', 'model = "a-model"\n'],
  ] as const) {
    const agent = findHookFile(name)!;
    const env = { HOME: root, CODEX_HOME: root };
    const place = { scope: name === 'codex' ? 'user' : 'project', root, env } as const;
    const svc = ['svc'];
    for (const before of ['', others]) {
      const { file } = await planHooks(agent, place, svc);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, before);
      writeFileSync(file, (await planHooks(agent, place, svc)).text ?? '');
      const plan = await planHooks(agent, place, null);
      assert.equal(plan.change, 'removed');
      if (before === '') assert.equal(plan.text, null, name);
      else assert.match(plan.text ?? '', /a-model/, name);
      rmSync(file);
    }
  }
});

const RUN: RunWish = {
  mcp: null,
  gateway: { url: 'http://127.0.0.1:1', key: '' },
  hooks: null,
  folder: '/s',
  env: {},
};

/** Returns the hooks of an agent's run as its program reads them. */
const TOLD: Record<string, (setup: RunSetup) => unknown> = {
  claude: ({ args }) => JSON.parse(args.find((arg) => arg.startsWith('--settings='))!.slice(11)).hooks,
  codex: ({ args }) => parse(args.filter((arg) => arg.startsWith('hooks.')).join('\n')).hooks,
  gemini: ({ files }) => JSON.parse(files[0]!.text).hooks,
  qwen: ({ files }) => JSON.parse(files[0]!.text).hooks,
  kimi: ({ files }) => parse(files.find(({ path }) => path.endsWith('.toml'))!.text).hooks,
  copilot: ({ files }) => JSON.parse(files.find(({ path }) => path.endsWith('/hooks.json'))!.text).hooks,
};

test('hooks that a person installs equal those of a run', async () => {
  const root = '/nowhere';
  for (const [name, told] of Object.entries(TOLD)) {
    const agent = findHookFile(name)!;
    const env = { HOME: root };
    const { text } = await planHooks(agent, { scope: 'user', root, env }, ['/opt/a b/svc']);
    const installed = (agent.format === 'toml' ? parse(text!) : JSON.parse(text!)).hooks;
    const hooks = writeHookLines(agent, ['/opt/a b/svc']);
    assert.deepEqual(installed, told(presetOf(name).setUpRun({ ...RUN, hooks })), name);
  }
});

test('an agent gets hooks for the events at which it accepts a refusal or text, and for no others', () => {
  for (const { name, hooks } of PRESETS.filter((preset) => preset.hooks !== null)) {
    const moments = Object.keys(hooks!.moments).filter((event) => event !== 'pre-write');
    const carried = Object.keys(SHAPES[name]!.context).filter((event) => event !== 'pre-write');
    assert.deepEqual(moments, carried, name);
    assert.ok(hooks!.moments['pre-write'] !== undefined && findHookFile(name) !== undefined, name);
  }
});

test('a patch through the shell of codex passes its hook', () => {
  const { matcher = '' } = presetOf('codex').hooks!.moments['pre-write']!;
  for (const tool of ['apply_patch', 'Bash', 'Write']) assert.match(tool, new RegExp(`^(?:${matcher})$`));
});
