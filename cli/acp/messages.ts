import { randomUUID } from 'node:crypto';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import type { Api } from '../../engine/index.ts';
import type { KeptLink } from '../link.ts';

type NewMessage = Api['msg.surface']['output'][number];

/** How long a run waits at its end for an engine that is not running. */
const LOOK_MS = 3000;

/** Returns messages to this worker that it has not seen yet, as its next prompt; null for none, or if that is unknown. */
export async function takeNewMessages(
  link: Pick<KeptLink, 'call'>,
  signal: AbortSignal,
): Promise<string | null> {
  const given = new AbortController();
  const asked = link
    .call(
      'msg.surface',
      {},
      {
        key: randomUUID(),
        signal: AbortSignal.any([signal, given.signal]),
        onProgress: () => undefined,
      },
    )
    // The engine does not know this as a worker's session.
    .catch((): NewMessage[] => []);
  const found = (await settleWithin(LOOK_MS, asked)) ?? [];
  given.abort();
  return found.length === 0 ? null : formatPrompt(found);
}

const formatPrompt = (messages: readonly NewMessage[]): string =>
  [
    ...messages.map((each) => {
      const from = each.from_session ?? each.from_name ?? each.from_agent ?? 'an unknown sender';
      const who = from === 'chair' ? 'the Chair' : from;
      const file = each.payload_path === null ? '' : ` (file ${each.payload_path})`;
      return `${each.kind === 'note' ? 'Message' : each.kind} ${each.id} from ${who}${file}:\n\n${each.body.trimEnd()}`;
    }),
    'When you have handled a message, acknowledge it with msg_ack; to answer it, use msg_send with its id as parent_id.',
  ].join('\n\n');
