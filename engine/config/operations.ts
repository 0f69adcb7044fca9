import { z } from 'zod';
import { by, type Caller, wireOperation } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import type { EventKind, EventLog, Storage } from '../storage/index.ts';
import type { ProjectSetup } from '../workers/runner/setup/index.ts';
import { buildConsentView, type ConsentView } from './consent-view.ts';
import { renderWithKey, writeConfig } from './edit.ts';
import type { ConfigKeeper } from './keeper.ts';
import { getAt } from './layers.ts';
import { maskSecrets } from './mask.ts';
import { trustConfig } from './trust.ts';

export interface ConfigOperationDeps {
  file: string;
  env: NodeJS.ProcessEnv;
  keeper: Pick<ConfigKeeper, 'loaded' | 'problem' | 'refresh' | 'restartNeeded'>;
  /** Returns the current setups of projects. */
  carried(): readonly ProjectSetup[];
  storage: Storage;
  events: EventLog;
  clock: Clock;
}

/** Creates the operations of clients on the configuration, and the Chair's changes to it. */
export function configOperations(deps: ConfigOperationDeps) {
  const { file, env, keeper, storage, events } = deps;

  /** Reads what waits now; the file is checked first, because its change is noticed only a moment later. */
  function viewConsent(): ConsentView {
    keeper.refresh();
    // In that case an earlier configuration is in use, and there is nothing to agree to.
    const problem = keeper.problem();
    if (problem !== null)
      throw new SvcError('config_invalid', problem, { hint: 'correct it with svc config edit' });
    return buildConsentView(keeper.loaded(), deps.carried());
  }

  async function recordConsent(
    kind: EventKind,
    caller: Caller,
    data: Record<string, unknown>,
  ): Promise<void> {
    keeper.refresh();
    await storage.write(() => events.append({ kind, ...by(caller), data }));
  }

  return [
    wireOperation({
      name: 'config.consent',
      about: "Values of svc.yaml that wait for a person's consent, and the values in use instead.",
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: viewConsent,
    }),
    wireOperation({
      name: 'config.trust',
      about:
        'Records on this machine that a person agrees to svc.yaml: exactly to the values that `digest` identifies.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ digest: z.string(), keys: z.array(z.string()).min(1).optional() }),
      async run({ digest, keys }, caller) {
        trustConfig({ file, env, digest, keys, actor: caller.actor });
        await recordConsent('config_trusted', caller, { digest, keys: keys ?? null });
        return { ...viewConsent(), restart_needed: keeper.restartNeeded() };
      },
    }),
    wireOperation({
      name: 'config.set',
      about:
        'Changes one key of svc.yaml, which also counts as consent to it; the whole file is checked before it is written.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ key: z.string(), value: z.string() }),
      async run({ key: name, value: text }, caller) {
        const changed = renderWithKey({ file, name, text });
        const loaded = writeConfig({ file, env, text: changed, name, actor: caller.actor });
        await recordConsent('config_written', caller, { key: name });
        return {
          value: getAt(maskSecrets(loaded.config), name.split('.')) ?? null,
          source: loaded.sources.get(name) ?? 'workspace',
          restart_needed: keeper.restartNeeded(),
          consent: viewConsent(),
        };
      },
    }),
    wireOperation({
      name: 'config.write',
      about: 'Replaces svc.yaml if its content is still `seen`; this also counts as consent to the changes.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ text: z.string(), seen: z.string() }),
      async run({ text, seen }, caller) {
        writeConfig({ file, env, text, seen, actor: caller.actor });
        await recordConsent('config_written', caller, { key: null });
        return { restart_needed: keeper.restartNeeded(), consent: viewConsent() };
      },
    }),
  ];
}
