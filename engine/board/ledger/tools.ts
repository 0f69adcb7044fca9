import { z } from 'zod';
import { SvcError } from '../../errors.ts';
import { by, type Caller, type Operation, operation } from '../../operation.ts';
import type { Storage } from '../../storage/index.ts';
import { tool } from '../../tool.ts';
import { ANY, checkSpeaksFor, holder, holderOrAny, ttl } from '../holder.ts';
import type { Ledger, Ledgers } from './index.ts';

const ledger = z.string().describe('Markdown file of the workspace.');
const item = z.int().min(1).describe('Which - [ ] of it, from 1, top to bottom.');

/** What clients may ask about ledgers. */
export function ledgerOperations({ storage, ledgers }: { storage: Storage; ledgers: Ledgers }): Operation[] {
  /** Only the Chair frees what is another's. */
  function checkMayFree(caller: Caller, input: { holder: string; ledger: string; item: number }): void {
    if (input.holder !== ANY) {
      checkSpeaksFor(caller, input.holder);
      return;
    }
    const held = ledgers.holderOf(input.ledger, input.item);
    if (caller.seat === 'chair' || held === null || held === caller.sessionId) return;
    throw new SvcError(
      'holder_mismatch',
      `item ${input.item} is held by ${held}, not by ${caller.sessionId ?? 'this caller'}`,
      {
        hint: `${held} can release it, or the Chair`,
        data: { item: input.item, held_by: held },
      },
    );
  }

  return [
    tool({
      name: 'task_claim',
      about:
        'Claim one checklist item of a ledger before you work on it; again to extend. item_held names who has it: take another.',
      seat: 'any',
      changes: true,
      input: z.strictObject({ holder, item, ledger, ttl_min: ttl(60) }),
      output: z.looseObject({ ledger: z.string(), text: z.string(), expires_at: z.string() }),
      say: (claim) => `yours until ${claim.expires_at}: ${claim.text}`,
      async run(input, caller) {
        checkSpeaksFor(caller, input.holder);
        const { holder, item, ledger, ttl_min } = input;
        const claim = await storage.write(() =>
          ledgers.claim({ holder, item, ledger, ttlMin: ttl_min }, by(caller)),
        );
        return { ledger: claim.ledger, item, text: claim.text, holder, expires_at: claim.expiresAt };
      },
    }),
    tool({
      name: 'task_release',
      about:
        'Release a claim, so that others can take the item. Check the item off in the file first when it is done.',
      seat: 'any',
      changes: true,
      input: z.strictObject({
        holder: holderOrAny,
        item,
        ledger,
      }),
      output: z.object({ ledger: z.string(), item: z.int(), released: z.boolean() }),
      say: (done) => `item ${done.item} of ${done.ledger} is free`,
      async run(input, caller, call) {
        const ledger = await storage.once('task_release', call.key, () => {
          checkMayFree(caller, input);
          return ledgers.release(input, by(caller));
        });
        return { ledger, item: input.item, released: true };
      },
    }),
    operation({
      name: 'ledger.show',
      about:
        'The checklist of a ledger, with who works on what, and how much of its section Clarify is open.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ ledger }),
      run: (input): Ledger => ledgers.show(input.ledger),
    }),
  ];
}
