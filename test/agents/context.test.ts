import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Caller } from '../../engine/core/api/operation.ts';
import { crush } from '../../engine/knowledge/context/crush/index.ts';
import {
  type CommandLine,
  HOOK_EVENTS,
  type HookEvent,
} from '../../engine/workers/agents/presets/hook-event.ts';
import type { SeenRequest, Step } from '../../fixtures/model/model.ts';
import { runPreset } from '../support/agents/agent-run.ts';
import { type Desk, openDesk, PROVIDER_KEY } from '../support/agents/matrix.ts';
import { REAL_AGENTS, skipped } from '../support/agents/real-agents.ts';
import { readCorpus } from '../support/gateway/corpus.ts';
import { until } from '../support/wait.ts';
import { requireLocalPath } from '../support/workspaces/local-path.ts';
import { SVC } from '../support/workspaces/workspace.ts';

const noise = readCorpus('noise').find(({ name }) => name === 'go-test-verbose');
assert.ok(noise !== undefined);
/** An id in a marker. */
const ID = `c-${'[0-9a-f]'.repeat(10)}[0-9a-f]*`;
const left = crush(noise.text).text;
/** A success message, which is left out. */
const MIDDLE = noise.text.split('\n').find((line) => line.length > 20 && !left.includes(line)) ?? '';
assert.notEqual(MIDDLE, '');

/** Live-mode settings with a provider of the program's protocol. */
const LIVE: Record<string, (url: string) => Record<string, unknown>> = {
  claude: (url) => ({
    'ai.mode': 'live',
    'ai.passthrough.anthropic.base_url': url,
    'ai.passthrough.anthropic.api_key': PROVIDER_KEY,
  }),
  codex: (url) => ({
    'ai.mode': 'live',
    'ai.providers': [{ name: 'up', base_url: `${url}/v1/responses`, api_key: PROVIDER_KEY }],
  }),
};

/** If claude has many tools, it only names ours. */
const search = (agent: string, ...tools: string[]): Step[] =>
  agent === 'claude'
    ? [
        {
          call: 'ToolSearch',
          arguments: {
            query: `select:${tools.map((tool) => `mcp__svc__${tool}`).join(',')}`,
            max_results: tools.length,
          },
        },
      ]
    : [];

const textOf = (request: SeenRequest | undefined): string => JSON.stringify(request?.body ?? '');

/** Runs the noisy command, and asks for its complete output by the id in the marker. */
async function runNoisy(desk: Desk, agent: string, isNamedOnly: boolean): Promise<SeenRequest[]> {
  const file = join(desk.ws.repository.folder, 'noise.txt');
  writeFileSync(file, noise?.text ?? '');
  const tools = isNamedOnly ? search(agent, 'context_retrieve') : [];
  const { call: shell, ...input } = REAL_AGENTS[agent]!.shell(`cat '${file}'`);
  const run = await desk.run('Run the tests.', () => [
    ...tools,
    // The gateway forwards an output whole if it is not shortened in time.
    { poll: shell, ...input, as: 'ran', until: { path: `/${ID}/` }, rounds: 10 },
    { call: 'context_retrieve', arguments: { id: `{{ran./${ID}/}}` } },
    { say: 'All is well.' },
  ]);
  const ended = await run.ended();
  assert.deepEqual([ended.failure, desk.failures], [null, []]);
  return desk.requests().filter(({ method, call, said }) => method === 'POST' && (call ?? said) !== null);
}

/** Counts a line as JSON escapes it. */
const countHits = (request: SeenRequest | undefined, line: string): number =>
  textOf(request).split(JSON.stringify(line).slice(1, -1)).length - 1;

const STANDING = [
  /locks that you hold: shared\.txt until /,
  /items that you have claimed: plan\.md 1 the parser/,
  /your questions that wait for an answer: ask 1 Which grammar\?/,
];

/** Texts that the model received around a compaction; null before it. */
const findStanding = (desk: Desk, begin = 'Your current state'): string | null =>
  desk
    .requests()
    .map(textOf)
    .find((text) => text.includes(begin)) ?? null;

async function holdAndAsk(desk: Desk, who: Pick<Caller, 'seat'> & { sessionId: string }): Promise<void> {
  const holder = who.sessionId;
  await desk.here.call('lock.acquire', { holder, path: 'shared.txt' }, who);
  await desk.here.call('task.claim', { holder, item: 1, ledger: 'plan.md' }, who);
  await desk.here.call('ask.open', { question: 'Which grammar?', timeout_sec: 600 }, who);
}

/** Real agent programs of .ci/agents.sh as workers. */
describe('the context of a real agent', { concurrency: 2 }, () => {
  for (const name of ['claude', 'codex']) {
    const agent = REAL_AGENTS[name]!;
    describe(name, { skip: skipped(name), timeout: 300_000 }, () => {
      const open = (
        flags: Record<string, unknown>,
        gateway?: (url: string) => Record<string, unknown>,
      ): Promise<Desk> =>
        openDesk({
          agent: name,
          home: agent.home ?? {},
          env: agent.env ?? {},
          flags,
          ...(gateway === undefined ? {} : { gateway }),
        });

      for (const [by, flags, gateway] of [
        ['its hook', { 'context.hooks.post_tool': true }, undefined],
        ['the gateway', {}, LIVE[name]],
      ] as const)
        test(`a noisy output is shortened by ${by}, and its id returns the whole text`, async () => {
          const desk = await open(flags, gateway);
          try {
            const seen = await runNoisy(desk, name, gateway !== undefined);
            const [shown, whole] = seen.slice(-2);
            assert.match(textOf(shown), /svc-crush: /);
            for (const fact of noise?.facts ?? []) assert.ok(countHits(shown, fact) > 0, fact);
            assert.equal(countHits(whole, MIDDLE), 1, 'only the text that was read back has the noise');
            const { savings } = await desk.here.call('context.stats', { session: 's-1' });
            const tool = gateway === undefined ? 'post_tool_hook' : 'gateway';
            assert.ok(
              savings.some((row) => row.tool === tool && row.bytes_out < row.bytes_in / 2),
              JSON.stringify(savings),
            );
          } finally {
            await desk.close();
          }
        });

      if (name === 'codex')
        test('an agent still knows its task, lock, claim and question after a compaction', async () => {
          const provider = { name: 'up', api_key: PROVIDER_KEY, model: 'short', context: 100, output: 50 };
          const desk = await open({ 'context.hooks.pre_compact': true }, (url) => ({
            'ai.mode': 'live',
            'ai.providers': [{ ...provider, base_url: `${url}/v1/responses` }],
          }));
          try {
            desk.ws.repository.write('plan.md', '- [ ] the parser\n');
            const who = { seat: 'worker', sessionId: 's-1' } as const;
            const run = await desk.run(
              'Work on the parser.',
              () => [agent.shell('true'), agent.shell('true'), { say: 'It is done.' }],
              { begun: () => holdAndAsk(desk, who) },
            );
            // It compacts repeatedly because nothing fits into such a small window.
            const heard = await until(() => findStanding(desk), 'what it is told after a compaction', 60_000);
            await run.cancel();
            await run.ended();
            assert.match(heard, /session s-1 \(worker w-1\) with task t-1: Work on the parser/);
            for (const fact of STANDING) assert.match(heard, fact);
          } finally {
            await desk.close();
          }
        });
      else
        test('an agent is reminded of its lock, claim and question before and after a compaction', async () => {
          const desk = await open({ 'context.hooks.pre_compact': true });
          try {
            desk.ws.repository.write('plan.md', '- [ ] the parser\n');
            await desk.here.join('ada');
            await holdAndAsk(desk, { seat: 'plain', sessionId: 'ada' });
            const key = desk.play('Say hello.', [{ say: 'Hello.' }]);
            const line = (event: HookEvent): CommandLine => ({
              command: process.execPath,
              args: [SVC, 'hook', event, '--agent', name],
            });
            let session: string | null = null;
            for (const prompt of ['Say hello.', '/compact', 'Go on.']) {
              const { facts } = await runPreset(name, {
                prompt,
                gateway: { url: desk.url, key },
                hooks: Object.fromEntries(HOOK_EVENTS.map((event) => [event, line(event)])) as Record<
                  HookEvent,
                  CommandLine
                >,
                cwd: desk.ws.root,
                folder: join(desk.ws.repository.folder, 'ada'),
                env: { ...agent.env, SVC_SESSION: 'ada', SVC_HOME: String(desk.ws.env.SVC_HOME) },
                ...(session === null ? {} : { resume: session }),
              });
              session = facts.agentSession;
            }
            for (const heard of [findStanding(desk), findStanding(desk, 'The summary must keep')])
              for (const fact of STANDING) assert.match(heard ?? '', fact);
          } finally {
            await desk.close();
          }
        });

      test('a second worker starts with the memories of the first, and finds the rest', async () => {
        const desk = await open({});
        try {
          const remember = (title: string, text: string): Step => ({
            call: 'memory_remember',
            arguments: { title, text, type: 'gotcha' },
          });
          const first = await desk.run('Look into the parser.', () => [
            ...search(name, 'memory_remember'),
            remember('Parser port', 'The parser listens on 9217.'),
            remember('Colour of the logo', 'The logo is teal.'),
            { say: 'Noted.' },
          ]);
          assert.deepEqual([(await first.ended()).failure, desk.failures], [null, []]);
          const second = await desk.run('Change the port of the parser.', () => [
            ...search(name, 'memory_recall'),
            { call: 'memory_recall', arguments: { query: 'which colour has the logo' } },
            { say: 'Changed.' },
          ]);
          assert.deepEqual([(await second.ended()).failure, desk.failures], [null, []]);
          const { worktree } = await second.session();
          const brief = readFileSync(join(requireLocalPath(worktree), '.svc', 'MEMORY_BRIEF.md'), 'utf8');
          assert.match(brief, /The parser listens on 9217\./);
          assert.ok(countHits(second.requests().at(-1), 'The logo is teal.') > 0);
        } finally {
          await desk.close();
        }
      });
    });
  }
});
