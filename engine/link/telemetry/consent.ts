import { SvcError } from '../../core/base/errors.ts';
import { isDoNotTrackSet } from '../../core/link-protocol/do-not-track.ts';
import { TELEMETRY_SCHEMA } from '../../core/link-protocol/telemetry-day.ts';
import type { Storage } from '../../storage/index.ts';
import type { TelemetryRows } from './rows.ts';
import type { TelemetryView } from './view.ts';

export type TelemetryConsent = ReturnType<typeof createTelemetryConsent>;

/** Decides whether figures may be counted and sent, by the settings, the link, and what a person has seen. */
export function createTelemetryConsent(deps: {
  storage: Storage;
  env: NodeJS.ProcessEnv;
  config(): { telemetry: { work: string } };
  /** Returns the linked server of this workspace; null without one. */
  linked(): { revokedAt: number | null } | null;
  rows(): TelemetryRows;
}) {
  const { env, rows } = deps;

  const readWork = (): TelemetryView['work'] =>
    (deps.config().telemetry.work || 'auto') as TelemetryView['work'];

  const isLinked = (): boolean => deps.linked()?.revokedAt === null;

  /** Returns the reason that forbids counting, linked or not. */
  function findProhibition(): string | null {
    if (isDoNotTrackSet(env)) return 'DO_NOT_TRACK is set where the engine was started';
    return readWork() === 'off' ? 'telemetry.work is off' : null;
  }

  /** Returns why nothing may be counted. */
  const findRefusal = (): string | null =>
    findProhibition() ?? (isLinked() ? null : 'this workspace is not linked');

  const waitsForPerson = (): boolean =>
    findRefusal() === null && (rows().readState()?.seenSchema ?? 0) < TELEMETRY_SCHEMA;

  const findObstacle = (): string | null =>
    findRefusal() ??
    (waitsForPerson()
      ? 'a person must review it first: svc telemetry show in a terminal, or svc telemetry on'
      : null);

  /**
   * Records that a person has seen what that schema sends. Returns false while the workspace is not linked. Throws
   * `conflict` for a schema other than the one in use.
   */
  async function agree(schema: number): Promise<boolean> {
    if (schema !== TELEMETRY_SCHEMA)
      throw new SvcError('conflict', `schema ${TELEMETRY_SCHEMA} is sent, but ${schema} was reviewed`, {
        hint: 'svc telemetry show shows what is sent now',
      });
    // Linking reports it again.
    if (!isLinked()) return false;
    await deps.storage.write(() => {
      const state = rows().readState() ?? { countingSince: null, countedSeq: 0 };
      rows().putState({ ...state, seenSchema: schema });
    });
    return true;
  }

  return { agree, readWork, isLinked, findProhibition, findRefusal, waitsForPerson, findObstacle };
}
