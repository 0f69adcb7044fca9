import type { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { fieldsInvalid } from '../base/fields-invalid.ts';
import { withoutBlanks } from './absent.ts';
import {
  actorDenied,
  type Caller,
  chairOnly,
  checkWholeText,
  mayAct,
  type Operation,
  type OperationCall,
  type OperationPolicy,
  type Operations,
  type OwnWork,
  ownWorkError,
  toWire,
} from './operation.ts';
import { type CallLog, createRepeats, nameCaller } from './repeat.ts';

/** A call that is never cancelled and reports no progress. */
const QUIET = { signal: new AbortController().signal, progress: () => undefined };

/** Creates the only entry point for all clients. */
export function createOperations<O extends Operation>(
  all: readonly O[],
  deps: {
    policy(): OperationPolicy;
    calls: CallLog;
    /** Returns the work that a worker session may see if its task is from an untrusted author; null for any other session. */
    ownWorkOf?(sessionId: string): OwnWork | null;
  },
): Operations<O> {
  const byName = new Map<string, O>(all.map((each) => [each.name, each]));
  if (byName.size !== all.length) throw new Error('two operations have one name');
  const { write } = deps.calls;
  const findOwnWork = ({ seat, sessionId }: Caller): OwnWork | null =>
    seat === 'worker' && sessionId !== null ? (deps.ownWorkOf?.(sessionId) ?? null) : null;
  const runOnce = createRepeats(deps.calls);
  return {
    all,
    async call(name, input, from, { key = null, parameters, ...options } = {}) {
      const found = byName.get(name);
      if (!found) throw new SvcError('not_found', `no operation ${JSON.stringify(name)}`);
      const caller = { ...from, ownWork: findOwnWork(from) };
      checkSeat(found, caller);
      checkActor(found, caller, deps.policy());
      checkWholeText(input);
      const schema = parameters ?? found.input;
      const parsed = schema.safeParse(withoutBlanks(schema, input ?? {}));
      if (!parsed.success) throw fieldsInvalid(parsed.error, parametersOf(schema));
      const call: OperationCall = {
        ...QUIET,
        ...options,
        finish: write,
        begin: write,
        begun: () => undefined,
      };
      const toAnswer = (value: unknown): unknown => (found.isWire === true ? value : toWire(value));
      if (key === null || !found.changes) return toAnswer(await found.run(parsed.data, caller, call));
      return runOnce({
        name: { caller: nameCaller(caller), operation: name, key },
        input: parsed.data,
        call,
        isSecret: found.isSecret === true,
        run: (repeatable) => found.run(parsed.data, caller, repeatable),
        toAnswer,
      });
    },
  };
}

function checkSeat(found: Operation, caller: Caller): void {
  if (found.seat === 'chair' && caller.seat !== 'chair') throw chairOnly(found.name, caller);
  if (found.seat === 'trusted' && caller.ownWork != null) throw ownWorkError(found.name, caller);
}

function checkActor(found: Operation, caller: Caller, policy: OperationPolicy): void {
  if (found.changes && !mayAct(policy, caller.actor)) throw actorDenied(caller.actor);
}

const parametersOf = (input: z.ZodType): string[] =>
  'shape' in input ? Object.keys(input.shape as object) : [];
