import { SvcError } from '../../core/base/errors.ts';
import { type Frame, KIND, malformedError } from './frames.ts';
import type { CallOptions, LinkHandlers } from './link.ts';
import { callMessage, messageTooLargeError, parseFailure, parseMessage, valueMessage } from './messages.ts';
import type { Outgoing } from './outgoing.ts';

const MOST_CALLS = 1024;
const MOST_NUMBERS = 0xffff_ffff;

interface OwnCall {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  onReport: CallOptions['onReport'];
  /** Stops waiting for an abort. */
  release(): void;
}

const tooManyError = (): SvcError =>
  new SvcError('limit_reached', `a link has at most ${MOST_CALLS} open calls`, {
    hint: 'try again when some have ended',
  });

/** Makes calls to the other end. */
export function createOwnCalls(outgoing: Outgoing) {
  const open = new Map<number, OwnCall>();
  let last = 0;
  let lost: SvcError | null = null;

  /** Removes a call, which then has only its outcome. */
  function take(number: number): OwnCall | undefined {
    const call = open.get(number);
    open.delete(number);
    call?.release();
    return call;
  }

  function cancel(number: number, error: unknown): void {
    const call = take(number);
    if (call === undefined) return;
    call.reject(error);
    // A message, since a frame could overtake its call.
    outgoing.sendFailure(KIND.cancel, number, new SvcError('cancelled', 'the caller has cancelled'));
  }

  function report(number: number, value: unknown): void {
    try {
      open.get(number)?.onReport?.(value);
    } catch (thrown) {
      cancel(number, thrown);
    }
  }

  function checkNumber(number: number): void {
    if (number === 0 || number > last) throw malformedError('an answer to a call that was not made');
  }

  return {
    call(method: string, input: unknown, { signal, onReport }: CallOptions = {}): Promise<unknown> {
      const cancelled = (): SvcError => new SvcError('cancelled', `the call ${method} was cancelled`);
      if (lost !== null) return Promise.reject(lost);
      if (signal?.aborted) return Promise.reject(cancelled());
      if (open.size >= MOST_CALLS || last === MOST_NUMBERS) return Promise.reject(tooManyError());
      return new Promise((resolve, reject) => {
        const number = last + 1;
        outgoing.send(KIND.call, number, { method, input });
        last = number;
        const onAbort = (): void => cancel(number, cancelled());
        signal?.addEventListener('abort', onAbort, { once: true });
        const release = (): void => signal?.removeEventListener('abort', onAbort);
        open.set(number, { resolve, reject, onReport, release });
      });
    },
    /** Takes an answer, a failure or a report. Throws `answer_invalid`. */
    receive({ kind, number, payload }: Frame, isTooLarge: boolean): void {
      checkNumber(number);
      // An answer to a cancelled call may still be on its way.
      if (!open.has(number)) return;
      if (isTooLarge) cancel(number, messageTooLargeError());
      else if (kind === KIND.failure) {
        const error = parseFailure(payload);
        take(number)?.reject(error);
      } else {
        const { value } = parseMessage(valueMessage, payload);
        if (kind === KIND.answer) take(number)?.resolve(value);
        else report(number, value);
      }
    },
    /** Rejects every call: the link has ended. */
    end(error: SvcError): void {
      lost = error;
      for (const number of [...open.keys()]) take(number)?.reject(error);
    },
  };
}

/** Answers the calls of the other end. */
export function createTheirCalls(outgoing: Outgoing, onCall: LinkHandlers['onCall']) {
  const open = new Map<number, AbortController>();
  /** Includes cancelled ones, whose work may not have ended. */
  let running = 0;

  async function answer(number: number, method: string, input: unknown): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const isOpen = (): boolean => open.get(number) === controller;
    open.set(number, controller);
    running += 1;
    try {
      const value = await onCall(method, input, {
        signal,
        report(data) {
          if (isOpen()) outgoing.send(KIND.report, number, { value: data });
        },
      });
      if (!isOpen()) return;
      outgoing.send(KIND.answer, number, { value });
    } catch (thrown) {
      if (isOpen()) outgoing.sendFailure(KIND.failure, number, thrown);
    } finally {
      running -= 1;
      if (isOpen()) open.delete(number);
    }
  }

  return {
    /** Takes a call or a cancel. Throws `answer_invalid`. */
    receive({ kind, number, payload }: Frame, isTooLarge: boolean): void {
      if (kind === KIND.cancel) {
        const controller = open.get(number);
        open.delete(number);
        controller?.abort(new SvcError('cancelled', 'the caller has cancelled'));
        return;
      }
      if (number === 0 || open.has(number)) throw malformedError('two calls with one number');
      if (isTooLarge) outgoing.sendFailure(KIND.failure, number, messageTooLargeError());
      else if (running >= MOST_CALLS) outgoing.sendFailure(KIND.failure, number, tooManyError());
      else {
        const { method, input } = parseMessage(callMessage, payload);
        void answer(number, method, input);
      }
    },
    /** Aborts every call: the link has ended. */
    end(error: SvcError): void {
      const controllers = [...open.values()];
      open.clear();
      for (const controller of controllers) controller.abort(error);
    },
  };
}
