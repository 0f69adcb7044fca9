import { asSvcError } from '../../../core/base/errors.ts';
import type { Log } from '../../../core/base/log.ts';
import {
  type LimitCall,
  PATIENCE_MS,
  readProblem,
  type TelegramCalls,
} from '../../../core/http/telegram-api.ts';
import type { ChatHandlers, ChatMemory } from '../service.ts';
import { cutAnswer, renderAnswer } from './render.ts';
import { readUpdate, readUpdateId } from './updates.ts';

/** An update that fails this often is skipped. */
const MOST_TRIES = 5;

/** The key of the memory under which the position in Telegram's updates is kept. */
export const OFFSET = 'offset';

export type UpdateHandler = ReturnType<typeof createUpdateHandler>;

/** Handles Telegram's updates, each once. */
export function createUpdateHandler({
  api,
  handlers,
  memory,
  log,
  limitCall,
  botName,
}: {
  api: TelegramCalls;
  handlers: ChatHandlers;
  memory: ChatMemory;
  log: Log;
  limitCall: LimitCall;
  botName(): string | null;
}) {
  /** Answers one person; a lost answer changes nothing. */
  async function tryToSend(what: string, sending: () => Promise<unknown>): Promise<void> {
    try {
      await sending();
    } catch (thrown) {
      log.info({ bot: 'telegram', problem: readProblem(thrown).message }, what);
    }
  }

  async function handle(given: unknown): Promise<void> {
    const found = readUpdate(given, botName());
    if (found === null || found.act.what === 'nothing') return;
    const { act } = found;
    if (act.what === 'press') {
      const said = await handlers.onPress(act.press);
      // Sent even without text, so that the button stops showing progress.
      const answer = said === null ? {} : { text: cutAnswer(said), show_alert: true };
      await tryToSend('a press was not answered', () =>
        api.answerCallbackQuery(act.queryId, answer, limitCall(PATIENCE_MS)),
      );
      return;
    }
    const said = await handlers.onWords(act.words);
    if (said === null) return;
    const { text, entities } = renderAnswer(said);
    // Messages in a group are also answered in private.
    const other = { entities, link_preview_options: { is_disabled: true } };
    await tryToSend('a text message was not answered', () =>
      api.sendMessage(act.words.user.id, text, other, limitCall(PATIENCE_MS)),
    );
  }

  /** Reports whether the database answers: without it, failures are not the update's fault. */
  const canRemember = (): Promise<boolean> =>
    memory.read(OFFSET).then(
      () => true,
      () => false,
    );

  const tries = new Map<number, number>();
  /** Already handled, after one that has to be retried. */
  const done = new Set<number>();
  /** Handles an update; false if it has to be retried. */
  async function attempt(given: unknown): Promise<boolean> {
    const id = readUpdateId(given) ?? 0;
    if (done.has(id)) return true;
    try {
      await handle(given);
    } catch (thrown) {
      const count = (tries.get(id) ?? 0) + 1;
      tries.set(id, count);
      log.error({ bot: 'telegram', update: id, error: asSvcError(thrown).message }, 'an update failed here');
      if (count < MOST_TRIES || !(await canRemember())) return false;
    }
    tries.delete(id);
    return true;
  }

  return {
    attempt,
    /** Remembers which of the next updates were already handled; forgets the others. */
    noteDone(ids: readonly number[]): void {
      done.clear();
      for (const id of ids) done.add(id);
    },
  };
}
