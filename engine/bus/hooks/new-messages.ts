import type { Caller } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { sentence } from '../../core/base/sentence.ts';
import { cutToWidth, toPrintable } from '../../core/base/text.ts';
import type { Message } from '../messages/index.ts';
import type { HookContributor } from './hooks.ts';

/** An agent pays for every character, and reads the rest when it matters. */
const MAX_BYTES = 4096;
/** Room for the text after the messages. */
const END_BYTES = 300;
const MESSAGE_BYTES = 1200;

/** Shows an agent its unseen messages, each once. */
export const listNewMessages = ({ surface }: { surface(caller: Caller): Message[] }): HookContributor => ({
  name: 'messages',
  look({ carries, event, caller }) {
    // Messages that are about to be summarised away need not be shown before.
    if (!carries || event === 'pre-compact') return null;
    const fresh = surface(caller);
    return fresh.length === 0 ? null : { context: [formatMessages(fresh)] };
  },
});

function formatMessages(messages: readonly Message[]): string {
  const lines = ['New messages for you in svc:'];
  let room = MAX_BYTES - END_BYTES - Buffer.byteLength(lines[0]!);
  let shown = 0;
  let isWhole = true;
  for (const message of messages) {
    const { line, isCut } = formatLine(message);
    room -= Buffer.byteLength(line) + 1;
    if (room < 0) break;
    lines.push(line);
    shown += 1;
    isWhole &&= !isCut;
  }
  const more = messages.length - shown;
  if (more > 0) lines.push(`and ${more} more.`);
  const read = more > 0 || !isWhole ? sentence`Read them in full with {msg.inbox}. ` : '';
  const next = sentence`${read}They are shown here once; when you have dealt with one, {msg.ack <id>}; to answer, {msg.send "…" parent_id=<id>}.`;
  lines.push(renderWords(next, 'anyone'));
  return lines.join('\n');
}

function formatLine({ id, kind, fromSession, fromAgent, fromName, body, payloadPath }: Message): {
  line: string;
  isCut: boolean;
} {
  const from = fromSession ?? fromName ?? fromAgent ?? 'an unknown sender';
  const agent = fromSession !== null && fromAgent !== null ? ` (${fromAgent})` : '';
  const what = kind === 'note' ? 'message' : kind;
  const file = payloadPath === null ? '' : ` [file ${payloadPath}]`;
  const text = cutToWidth(body.trim(), MESSAGE_BYTES, Buffer.byteLength);
  const whole = toPrintable(`${what} ${id} from ${from}${agent}: ${text}${file}`, { lines: true });
  // A line of the text must not look like another message.
  return { line: whole.replaceAll('\n', '\n  '), isCut: text !== body.trim() };
}
