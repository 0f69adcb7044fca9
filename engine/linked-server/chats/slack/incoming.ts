import type { Log } from '../../../core/base/log.ts';
import type { ChatHandlers } from '../service.ts';
import { readPayload, readWords, type SlackAction } from './payloads.ts';

/** The record of handled payloads, so that repeated ones are handled once. */
const MOST_REMEMBERED = 2000;

/** The senders whose payloads are accepted. */
interface Ours {
  teamId: string;
  appId: string;
  botUserId: string;
}

/** The result of a payload. */
export type PayloadResult =
  /** Recorded, or nothing to record. */
  | 'taken'
  /** Not of this app, or not from its Slack workspace. */
  | 'foreign'
  | 'malformed';

/** Handles people's actions reported by Slack. */
export interface IncomingPayloads {
  /**
   * Resolves when a payload is recorded; the answer to the person is sent after that. Rejects if it could not be
   * recorded: then Slack is not acknowledged.
   */
  take(payload: unknown): Promise<PayloadResult>;
  /** Resolves when nothing is in progress. */
  settled(): Promise<void>;
}

type Press = Extract<SlackAction, { kind: 'press' }>;
type Words = Extract<SlackAction, { kind: 'words' }>;

export function createIncomingPayloads({
  handlers,
  log,
  ours,
  findName,
  answer,
}: {
  handlers: ChatHandlers;
  log: Log;
  /** Null while it is unknown. */
  ours(): Ours | null;
  /** Returns a user's display name. */
  findName(user: string): Promise<string>;
  /** Sends a message to one person, separately if others could read it. */
  answer(to: { channel: string; user: string; isMessage: boolean }, text: string): Promise<void>;
}): IncomingPayloads {
  const done = new Map<string, Promise<void>>();
  const underWay = new Set<Promise<unknown>>();

  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    const forgetWork = (): void => void underWay.delete(work);
    work.then(forgetWork, forgetWork);
    return work;
  }

  /** Runs an action once; a failure is forgotten, so that Slack's repetition runs it again. */
  function doOnce(key: string, work: () => Promise<void>): Promise<void> {
    const before = done.get(key);
    if (before !== undefined) return before;
    const doing = track(work());
    done.set(key, doing);
    doing.catch(() => done.delete(key));
    const [oldest] = done.keys();
    if (done.size > MOST_REMEMBERED && oldest !== undefined) done.delete(oldest);
    return doing;
  }

  function answerLater(to: { channel: string; user: string; isMessage: boolean }, text: string | null): void {
    if (text === null || text === '') return;
    const answering = answer(to, text).catch((error: Error) => {
      log.warn({ chat: 'slack', problem: error.message }, 'a private answer was not sent');
    });
    void track(answering);
  }

  async function takePress({
    user,
    channel,
    channelName,
    isPrivate,
    messageId,
    ticket,
  }: Press): Promise<void> {
    const place = { channel, channelName, isPrivate };
    answerLater(
      { channel, user: user.id, isMessage: false },
      await handlers.onPress({ user, place, messageId, ticket }),
    );
  }

  async function takeWords({ user, channel, isPrivate, text }: Words, botUserId: string): Promise<void> {
    if (user === botUserId) return;
    const said = await handlers.onWords({
      user: { id: user, name: await findName(user) },
      place: { channel, channelName: null, isPrivate },
      text: readWords(text, botUserId),
    });
    answerLater({ channel, user, isMessage: isPrivate }, said);
  }

  return {
    async take(payload) {
      const incoming = readPayload(payload);
      if (incoming.kind === 'malformed') return 'malformed';
      const own = ours();
      if (own === null) throw new Error('the accepted payloads are not known yet');
      const { teamId, appId } = incoming.origin;
      if (teamId !== own.teamId || appId !== own.appId) return 'foreign';
      if (incoming.kind === 'press') await doOnce(incoming.key, () => takePress(incoming));
      else if (incoming.kind === 'words')
        await doOnce(incoming.key, () => takeWords(incoming, own.botUserId));
      return 'taken';
    },
    async settled() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}
