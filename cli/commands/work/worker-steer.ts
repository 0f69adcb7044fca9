import { SvcError } from '../../../engine/core/base/errors.ts';
import { READING_WORDS } from '../../../engine/index.ts';
import { readPrompt } from '../../arguments/prompt.ts';
import { defineCommand } from '../../command.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

export const steer = defineCommand({
  name: 'worker steer',
  about: 'send a message to a running worker, and report when it reads it',
  args: [
    ...defineSessionArgument('session:live'),
    { name: 'words', about: 'the message; - reads standard input', rest: true },
  ],
  flags: {
    now: { type: 'boolean', about: 'interrupt it immediately; only on transport acp' },
  },
  examples: ['worker steer s-12 "leave the tests alone"', 'worker steer s-12 --now "stop: the port is 8080"'],
  async run(context) {
    const { args, flags, stdin } = context;
    const client = await context.engine();
    const row = await client.call('session.show', { session: context.arg(0) });
    const { session_id: session, state, transport, reads_messages: reads } = row;
    if (state === 'ended')
      throw new SvcError('conflict', `${session} ${READING_WORDS.never}`, {
        hint: `svc worker follow-up ${session} "…" gives it more work`,
      });
    if (flags.now && (state !== 'running' || transport !== 'acp'))
      throw new SvcError('conflict', `${session} cannot be interrupted: it ${READING_WORDS[reads]}`, {
        hint: `without --now it receives the message; svc stop ${session} stops it`,
      });
    const body = await readPrompt(args.slice(1).join(' '), stdin);
    if (body.trim() === '') throw new SvcError('usage', 'nothing was sent');
    const sent = await client.call('msg.send', { to_session: session, body });
    if (flags.now) await client.call('worker.interrupt', { session });
    context.result(
      { ...sent, reads: flags.now ? 'now' : reads },
      ({ messages }) =>
        `message ${messages[0]?.id}: ${session} ${flags.now ? 'is interrupted and reads it now' : READING_WORDS[reads]}`,
    );
  },
});
