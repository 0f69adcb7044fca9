import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import { connectToEngine, type EngineClient } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { getDaemonCommand } from '../../self.ts';
import { followLog } from '../../sessions/follow-log.ts';
import { openDashboardOf } from '../start/dash.ts';
import type { CatchServer } from './catch-server.ts';
import { makeDemoWorkspace, DEMO_PROMPT as PROMPT, sendSample } from './demo-workspace.ts';

interface Demo {
  folder: string;
  env: NodeJS.ProcessEnv;
  events: CatchServer;
  client: EngineClient;
  receiver: string;
}

interface Speech {
  isHeld: boolean;
  say(line: string): void;
  release(): void;
}

export const demoCommand: Command = defineCommand({
  name: 'demo',
  about: 'show the main job in a temporary folder: signed request, decision, worker, commit, signed events',
  flags: {
    auto: { type: 'boolean', about: 'approve through the signed API instead of asking for a key' },
    link: {
      type: 'boolean',
      about:
        'show the way over a linked server: login, a catch URL, and approvals on a page and by a signed request',
    },
    keep: { type: 'boolean', about: 'keep the temporary folder' },
  },
  examples: ['demo', 'demo --auto', 'demo --link'],
  async run(context) {
    if (context.flags.link) {
      const { runLinkedDemo } = await import('./demo-link.ts');
      return runLinkedDemo(context, context.flags.keep === true);
    }
    const around = await realpath(await mkdtemp(join(tmpdir(), 'svc-demo-')));
    const folder = join(around, 'demo');
    const secret = randomBytes(24).toString('hex');
    // Output is buffered while the dashboard has the terminal.
    const held: string[] = [];
    const speech: Speech = {
      isHeld: false,
      say(line) {
        if (speech.isHeld) held.push(line);
        else context.stdout.write(`${line}\n`);
      },
      release() {
        speech.isHeld = false;
        for (const line of held.splice(0)) speech.say(line);
      },
    };
    const { say } = speech;
    const { startCatchServer } = await import('./catch-server.ts');
    const events = await startCatchServer(secret, (event) => {
      const about = [event.task_id, event.decision_id, event.session_id].filter(Boolean).join(' ');
      say(
        `   event    ${String(event.event).padEnd(14)} ${about}${event.reason ? ` (${toPrintable(String(event.reason))})` : ''}, signature ${event.verified ? 'verified' : 'WRONG'}`,
      );
    });
    let client: EngineClient | undefined;
    try {
      const env = await makeDemoWorkspace(context, folder, secret, {
        notify: { webhooks: [{ url: events.url }] },
      });
      client = await connectToEngine({ cwd: folder, env, daemon: getDaemonCommand() });
      const { receivers } = await client.call('engine.status');
      const [at] = receivers;
      if (!at) throw new SvcError('internal', 'the demo engine has no receiver');
      return await showDemo(
        context,
        { folder, env, events, client, receiver: `${at.host}:${at.port}` },
        speech,
      );
    } finally {
      await client?.call('engine.stop', { stop_workers: true }).catch(() => undefined);
      await client?.closed;
      await events.close();
      if (context.flags.keep) say(`kept: ${around}`);
      else await rm(around, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    }
  },
});

async function showDemo(
  context: CommandContext<{ auto: never; keep: never }> | CommandContext,
  demo: Demo,
  speech: Speech,
): Promise<number> {
  const { say } = speech;
  const { client, folder, receiver, env } = demo;
  const { flags, stdin, stdout, signal } = context as CommandContext & { flags: { auto: boolean } };
  say(`1. workspace ${folder}`);
  say(`   engine   pid ${client.welcome.pid}, receiver http://${receiver}, events to ${demo.events.url}`);

  say('   agent    scripted: a small program that stands in for a coding agent, not a model');
  say('2. a signed request arrives: svc webhook test --route task --agent scripted --prompt "…" --dispatch');
  const created = await sendSample(env, [
    '--route',
    'task',
    '--agent',
    'scripted',
    `--prompt=${PROMPT}`,
    '--dispatch',
    '--addr',
    receiver,
  ]);
  const { task_id: taskId, decision_id: decisionId } = created.body;
  say(`   answer   ${created.status}: ${taskId} is ${created.body.status}, ${decisionId} waits`);

  await demo.events.received('needs_approval');
  say('3. the decision');
  const { decision } = await client.call('decision.show', { id: String(decisionId) });
  say(`   will run ${decision.agent} in its own worktree`);
  say(`   waits    needs approval: ${decision.why}`);
  say(`   prompt   ${PROMPT.split('\n')[0]} (sha256 ${decision.hash.slice(0, 12)}…)`);
  if (stdin.isTTY && stdout.isTTY && !flags.auto) {
    say(
      '4. the dashboard opens: a then y approves, the text shows the run and then its work, p then m merges, q leaves',
    );
    speech.isHeld = true;
    const farewell = await openDashboardOf(context, {
      cwd: folder,
      env,
      select: { pane: 'work', id: decision.task_id },
    }).finally(speech.release);
    for (const line of farewell) say(line);
    return reportEnd(demo, String(taskId), say);
  }
  say(`   approve  signed POST /decisions/${decisionId}/approve`);
  const approval = ['--route', 'approve', '--decision', String(decisionId), '--addr', receiver];
  const approved = await sendSample(env, approval);
  const { state, dispatched, session_id: session } = approved.body;
  say(`   answer   ${approved.status}: ${state}, dispatched ${dispatched}, session ${session}`);
  say(`4. the worker's log (${session}, the scripted agent)`);
  const log = { stdout: createIndentedStream(stdout), json: false, signal, note: say };
  await followLog(log, client, String(session), { from: 0 });
  if (signal.aborted) return 130;
  const { event } = await demo.events.received('sealed', 'failed');
  return reportEnd(demo, String(taskId), say, `; the automation received ${JSON.stringify(event)}`);
}

/** Reports how the task ended and what the worker did. */
async function reportEnd({ client }: Demo, id: string, say: Speech['say'], told = ''): Promise<number> {
  const { task } = await client.call('task.show', { id });
  const why = task.failure === null ? '' : `: ${toPrintable(task.failure.text)}`;
  say(`5. ${task.task_id} is ${task.status}${why}${told}`);
  if (task.status !== 'done' || task.session_id === null) {
    if (task.session_id === null) say('   nothing ran');
    return task.status === 'failed' && task.session_id !== null ? 1 : 0;
  }
  const work = await client.call('worktree.diff', { session: task.session_id });
  say(`6. the work is on branch ${work.branch}`);
  for (const commit of work.commits) say(`   ${commit.id.slice(0, 10)} ${toPrintable(commit.subject)}`);
  say(toPrintable(work.patch.text, { lines: true }).trimEnd().replace(/^/gm, '   '));
  return work.commits.length > 0 ? 0 : 1;
}

function createIndentedStream(out: NodeJS.WriteStream): NodeJS.WriteStream {
  let isLineStart = true;
  const writeIndented = (text: string): boolean => {
    const shown = (isLineStart ? '   | ' : '') + text.replace(/\n(?=.)/gs, '\n   | ');
    isLineStart = text.endsWith('\n');
    return text === '' ? true : out.write(shown);
  };
  return { write: writeIndented } as unknown as NodeJS.WriteStream;
}
