import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Ask } from './rows.ts';

/** Quotes a text, cut to 200 characters. */
const quoteStart = (text: string): string =>
  JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Creates the error for answering a closed ask: who closed it, and with which answer. */
export function askClosedError(ask: Ask): SvcError {
  const { id, status, answeredBy, answer, fromSession } = ask;
  const data = { id, status, by: answeredBy, answer };
  if (status === 'answered') {
    const message = `ask ${id} was already answered by ${answeredBy}: ${quoteStart(answer ?? '')}`;
    return new SvcError('ask_closed', message, { data });
  }
  return new SvcError('ask_closed', `ask ${id} timed out; no one waits for its answer any more`, {
    ...(fromSession === null ? {} : { hint: `a message to ${fromSession} still reaches it` }),
    data,
  });
}

const describeOpenAsk = (ask: Ask) => ({
  hint: sentence`ask ${ask.id} stays open until ${ask.expiresAt} and can be answered; {ask.list} shows it`,
  data: { id: ask.id },
});

/** Creates the error for a wait that was aborted. */
export const askCancelledError = (ask: Ask): SvcError =>
  new SvcError('cancelled', `no one waits for the answer to ask ${ask.id} any more`, describeOpenAsk(ask));

/** Creates the error for a wait that ends because the engine stops. */
export const askInterruptedError = (ask: Ask): SvcError =>
  new SvcError('engine_closing', `the engine is stopping while ask ${ask.id} waits`, describeOpenAsk(ask));
