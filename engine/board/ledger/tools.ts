import { z } from 'zod';
import { by, type Caller, operation } from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import {
  ANY,
  type HolderPeers,
  holder,
  holderOrAny,
  resolveHolder,
  resolveNewHolder,
  ttlInput,
} from '../holder.ts';
import { type Ledger, type Ledgers, quoteItem } from './index.ts';

const ledger = z.string().describe('Markdown file of the workspace.');
const item = z.int().min(1).describe('Position among - [ ] and - [x] lines, from 1.');

/** Operations on ledgers. */
export function ledgerOperations({
  ledgers,
  peers,
  callerPaths,
}: {
  ledgers: Ledgers;
  peers: HolderPeers;
  callerPaths: Pick<CallerPaths, 'resolveShared'>;
}) {
  /** Resolves the one file that all sessions use, the project's: a copy in a worktree may have other numbers. */
  const nameLedger = (path: string, caller: Caller): string => callerPaths.resolveShared(path, caller).key;

  /** Checks the owner of a claim. Only the Chair releases another session's. */
  function holderToFree(caller: Caller, input: { holder: string; ledger: string; item: number }): string {
    if (input.holder !== ANY) return resolveHolder(input.holder, caller, peers);
    const claims = ledgers.claimsOn(input.ledger, input.item);
    const [claim] = claims;
    if (caller.seat === 'chair' || claim === undefined) return ANY;
    if (caller.sessionId !== null && claims.some(({ holder }) => holder === caller.sessionId))
      return caller.sessionId;
    const held = claim.holder;
    throw new SvcError(
      'holder_mismatch',
      `item ${input.item} (${quoteItem(claim.text)}) is held by ${held}, not by ${caller.sessionId ?? 'this caller'}`,
      {
        hint: `${held} or the Chair can release it`,
        data: { item: input.item, text: claim.text, held_by: held },
      },
    );
  }

  return [
    tool({
      name: 'task.claim',
      about:
        'Claim one checklist item of a ledger before you work on it; repeat to extend. item_held names the holder: take another.',
      seat: 'any',
      changes: true,
      input: z.strictObject({ holder, item, ledger, ttl_min: ttlInput(60) }),
      output: z.looseObject({ ledger: z.string(), text: z.string(), expires_at: z.string() }),
      say: ({ item, ledger, expires_at, text }) =>
        `item ${item} of ${ledger} is yours until ${expires_at}: ${text}`,
      run(input, caller, call) {
        const { item, ttl_min } = input;
        const ledger = nameLedger(input.ledger, caller);
        return call.finish(() => {
          const holder = resolveNewHolder(input.holder, caller, peers);
          const claim = ledgers.claim({ holder, item, ledger, ttlMin: ttl_min }, by(caller));
          return { ledger: claim.ledger, item, text: claim.text, holder, expires_at: claim.expiresAt };
        });
      },
    }),
    tool({
      name: 'task.release',
      about:
        'Release a claim, so that others can take the item. If it is done, check it off in the file first.',
      seat: 'any',
      changes: true,
      input: z.strictObject({
        holder: holderOrAny,
        item,
        ledger,
      }),
      output: z.object({ ledger: z.string(), item: z.int(), text: z.string(), released: z.boolean() }),
      say: ({ item, ledger, text }) => `item ${item} of ${ledger} is free: ${text}`,
      run({ ledger: path, ...input }, caller, call) {
        const wanted = { ...input, ledger: nameLedger(path, caller) };
        return call.finish(() => {
          const holder = holderToFree(caller, wanted);
          const { ledger, text } = ledgers.release({ ...wanted, holder }, by(caller));
          return { ledger, item: input.item, text, released: true };
        });
      },
    }),
    operation({
      name: 'ledger.show',
      about:
        'The checklist of a ledger, with who works on each item, and how many items of its section Clarify are open.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ ledger }),
      run: (input, caller): Ledger => ledgers.show(nameLedger(input.ledger, caller)),
    }),
  ];
}
