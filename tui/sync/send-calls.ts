import { asSvcError } from '../../engine/core/base/errors.ts';
import type { EngineClient } from '../../engine/index.ts';
import type { DashboardEffect } from '../actions/transition.ts';
import type { Store } from '../store.ts';

export interface SentCalls {
  /** Sends a call that the reducer requested, and passes the answer to the store. */
  performCall(effect: Extract<DashboardEffect, { do: 'call' }>): Promise<void>;
  /** Sends calls sequentially: each one sees the changes of the one before, such as the base of a merge. */
  performCalls(effects: readonly Extract<DashboardEffect, { do: 'call' }>[]): Promise<void>;
}

export function createCallSender(client: () => EngineClient, sendWhileOpen: Store['send']): SentCalls {
  async function performCall(effect: Extract<DashboardEffect, { do: 'call' }>): Promise<void> {
    const { operation, input, busy, form } = effect;
    try {
      const answer = await client().callByName(operation, input);
      sendWhileOpen({ type: 'answered', effect, answer });
    } catch (error) {
      const { message, hint } = asSvcError(error);
      sendWhileOpen({ type: 'refused', busy, text: message, hint, form });
    }
  }

  return {
    performCall,
    async performCalls(effects) {
      for (const effect of effects) await performCall(effect);
    },
  };
}
