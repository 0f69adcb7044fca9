import { SvcError } from '../../base/errors.ts';
import { sentence } from '../../base/sentence.ts';
import type { Ask } from './rows.ts';

/** Long answers are named by their beginning. */
const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** It takes no answer any more: by whom it was closed, and with what. */
export function closed(ask: Ask): SvcError {
  const { askId, status, answeredBy, answer, fromSession } = ask;
  const data = { id: askId, status, by: answeredBy, answer };
  if (status === 'answered') {
    const message = `ask ${askId} was answered by ${answeredBy} already: ${quoted(answer ?? '')}`;
    return new SvcError('ask_closed', message, { data });
  }
  return new SvcError('ask_closed', `ask ${askId} timed out; nobody waits for its answer any more`, {
    ...(fromSession === null ? {} : { hint: `a message to ${fromSession} still reaches it` }),
    data,
  });
}

const stays = (ask: Ask) => ({
  hint: sentence`ask ${ask.askId} stays open until ${ask.expiresAt} and can be answered; {ask.list} shows it`,
  data: { id: ask.askId },
});

/** Whoever waited has gone. */
export const cancelled = (ask: Ask): SvcError =>
  new SvcError('cancelled', `nobody waits for the answer of ask ${ask.askId} any more`, stays(ask));

/** The engine stops meanwhile. */
export const closing = (ask: Ask): SvcError =>
  new SvcError('engine_closing', `the engine stops while ask ${ask.askId} waits`, stays(ask));
