import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SHAPES } from '../../cli/hooks/shapes.ts';
import type { RouteModels } from '../../engine/core/models/index.ts';
import type { HookEvent } from '../../engine/index.ts';
import { type CommandLine, HOOK_EVENTS } from '../../engine/workers/agents/presets/hook-event.ts';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { runPreset } from '../support/agents/agent-run.ts';
import { missing } from '../support/agents/agents.ts';
import { makeRepository } from '../support/workspaces/git.ts';

const KEPT = 'kept through the compaction';
const AFTER = 'said after the compaction';
const SAID: Partial<Record<HookEvent, string>> = { 'pre-compact': KEPT, 'session-start': AFTER };

const CODEX_SETTINGS = 'model = "stand-in"\n';

/** A window so small that an agent that knows it compacts after every step. */
const SHORT: RouteModels = { named: [], other: { context: 100, output: 50 } };

interface Agent {
  script: Script | Script[];
  /** The prompts, one after another in one session. */
  prompts: string[];
  /** Texts that the model must receive, and the end of the test for agents that stop there. */
  hears: string[];
  stopsThen?: true;
  /** Model settings in its route, for agents that compact only by those. */
  models?: RouteModels;
  env?: Record<string, string>;
}

const AGENTS: Record<string, Agent> = {
  claude: {
    script: { steps: [{ say: 'Hello.' }] },
    prompts: ['Say hello.', '/compact', 'Go on.'],
    hears: [KEPT, AFTER],
  },
  codex: {
    // Codex compacts by itself after a tool call; nothing can be added at its end.
    script: [
      { when: 'produced by the other language model', steps: [{ say: 'Read.' }] },
      { steps: [{ call: 'exec_command', arguments: { cmd: 'true' } }, { say: 'Hello.' }] },
    ],
    prompts: ['Say hello.'],
    models: SHORT,
    hears: [AFTER],
  },
  // It undoes a compaction that does not save enough, so nothing follows it.
  qwen: {
    script: { steps: [{ say: 'Hello.' }] },
    prompts: ['Say hello.', '/compress'],
    hears: [KEPT],
  },
  opencode: {
    script: {
      steps: [{ call: 'bash', arguments: { command: 'true', description: 'Nothing' } }, { say: 'Hello.' }],
    },
    prompts: ['Say hello.'],
    hears: [KEPT, AFTER],
    stopsThen: true,
    models: SHORT,
    env: { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' },
  },
};

describe('what real agents receive around a compaction', { concurrency: 2 }, () => {
  for (const [agent, { script, prompts, hears, stopsThen, models, env }] of Object.entries(AGENTS)) {
    const skip = missing(agent);
    test(`${agent} passes it on to its model`, { skip, timeout: 120_000 }, async () => {
      const { root, folder, remove } = makeRepository();
      const model = await startModel({ script });
      mkdirSync(join(folder, 'session', 'home', '.codex'), { recursive: true });
      writeFileSync(join(folder, 'session', 'home', '.codex', 'config.toml'), CODEX_SETTINGS);
      const heard = (words: string): boolean =>
        model.requests.some(({ body }) => JSON.stringify(body).includes(words));
      const hook = (event: HookEvent): CommandLine => {
        const words = SAID[event];
        const answer = words === undefined ? '' : (SHAPES[agent]!.context[event]?.(words) ?? '');
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
        return { command: process.execPath, args: ['-e', `console.log(${JSON.stringify(text)})`] };
      };
      const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [event, hook(event)])) as Record<
        HookEvent,
        CommandLine
      >;
      try {
        let session: string | null = null;
        for (const prompt of prompts) {
          const { facts } = await runPreset(agent, {
            prompt,
            gateway: { url: model.url, key: 'no key', ...(models === undefined ? {} : { models }) },
            hooks,
            cwd: root,
            folder: join(folder, 'session'),
            ...(env === undefined ? {} : { env }),
            ...(session === null ? {} : { resume: session }),
            ...(stopsThen ? { stopWhen: () => hears.every(heard) } : {}),
          });
          session = facts.agentSession;
        }
        assert.deepEqual(hears.filter(heard), hears);
      } finally {
        await model.close();
        remove();
      }
    });
  }
});
