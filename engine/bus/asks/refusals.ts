import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Ask } from './rows.ts';

/** Quotes a text, cut to 200 characters. */
const quoteStart = (text: string): string =>
  JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Creates the error for answering a closed ask: who closed it, and with which answer. */
export function askClosedError(ask: Ask): SvcError {
  const { askId, status, answeredBy, answer, fromSession } = ask;
  const data = { id: askId, status, by: answeredBy, answer };
  if (status === 'answered') {
    const message = `ask ${askId} was already answered by ${answeredBy}: ${quoteStart(answer ?? '')}`;
    return new SvcError('ask_closed', message, { data });
  }
  return new SvcError('ask_closed', `ask ${askId} timed out; no one waits for its answer any more`, {
    ...(fromSession === null ? {} : { hint: `a message to ${fromSession} still reaches it` }),
    data,
  });
}

const describeOpenAsk = (ask: Ask) => ({
  hint: sentence`ask ${ask.askId} stays open until ${ask.expiresAt} and can be answered; {ask.list} shows it`,
  data: { id: ask.askId },
});

/** Creates the error for a wait that was aborted. */
export const askCancelledError = (ask: Ask): SvcError =>
  new SvcError('cancelled', `no one waits for the answer to ask ${ask.askId} any more`, describeOpenAsk(ask));

/** Creates the error for a wait that ends because the engine stops. */
export const askInterruptedError = (ask: Ask): SvcError =>
  new SvcError('engine_closing', `the engine is stopping while ask ${ask.askId} waits`, describeOpenAsk(ask));
