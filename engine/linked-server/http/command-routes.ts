import { Hono } from 'hono';
import { SvcError } from '../../core/base/errors.ts';
import { type CommandsAnswer, commandOutcome, LONGEST_POLL_S } from '../../core/link-protocol/messages.ts';
import type { ServerEnv, ServerParts } from './context.ts';
import { type LinkRequests, readBody } from './link-requests.ts';

/** Gives commands to workspaces, which poll for them, and accepts their outcomes. */
export function commandRoutes(
  { clock, workspaces, commands, polls }: ServerParts,
  { readToken, readWorkspace, serverTime }: LinkRequests,
): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  const readNumber = (text: string | undefined, most: number): number =>
    /^\d{1,15}$/.test(text ?? '') ? Math.min(most, Number(text)) : 0;
  routes.get('/commands', async (context) => {
    const { id } = await workspaces.findTeller(readToken(context));
    const after = readNumber(context.req.query('after'), Number.MAX_SAFE_INTEGER);
    const ends = clock.monotonic() + 1000 * readNumber(context.req.query('wait'), LONGEST_POLL_S);
    const instance = context.req.query('instance')?.slice(0, 64) ?? '';
    const poll = polls.open(id, instance, context.req.raw.signal);
    if (poll === null)
      throw new SvcError('limit_reached', 'too many workspaces are waiting here', {
        data: { retry_after_s: 2 },
      });
    const answerPoll = (found: CommandsAnswer['commands']) => {
      context.set('isUneventful', found.length === 0);
      return context.json({
        commands: found,
        contested: poll.isContested(),
        server_time: serverTime(),
      } satisfies CommandsAnswer);
    };
    try {
      for (let mayHaveNews = true; ; ) {
        const isContested = poll.isContested();
        const found = isContested || !mayHaveNews ? [] : await commands.listWaiting(id, after);
        if (found.length > 0) return answerPoll(found);
        const left = ends - clock.monotonic();
        if (left <= 0) return answerPoll([]);
        // A contested poll is checked again when the conflict may be over.
        const why = await poll.wait(Math.min(left, isContested ? 5000 : left));
        if (why === 'displaced')
          throw new SvcError('displaced', 'another engine polls with the token of this workspace');
        if (why === 'revoked') throw new SvcError('revoked', 'this workspace was unlinked');
        if (why === 'closing' || why === 'gone') return answerPoll([]);
        mayHaveNews = why === 'news' || isContested;
      }
    } finally {
      poll.close();
    }
  });
  routes.post('/commands/:id', async (context) => {
    const workspace = await readWorkspace(context);
    const outcome = await readBody(context, commandOutcome);
    const id = context.req.param('id');
    if (!/^k_[\w-]{1,64}$/.test(id) || !(await commands.settle(workspace, id, outcome)))
      throw new SvcError('not_found', 'this workspace received no such command');
    return context.body(null, 204);
  });
  return routes;
}
