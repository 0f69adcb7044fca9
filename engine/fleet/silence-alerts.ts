import type { Clock } from '../core/base/clock.ts';
import type { MachineState } from './machine-connection.ts';

/** A machine that has been silent while sessions work there. */
export interface SilentMachine {
  id: string;
  name: string;
  /** Why it is not connected, a sentence; null if that is unknown. */
  why: string | null;
  sessions: string[];
}

/** A machine with the sessions that work there. */
interface WatchedMachine {
  id: string;
  name: string;
  state: MachineState;
  sessions: string[];
}

const LOOK_MS = 5000;

/** Reports each silence of a machine on which sessions work once, when it has lasted too long. */
export function watchSilence({
  clock,
  readPatienceMs,
  listMachines,
  onSilent,
}: {
  clock: Pick<Clock, 'monotonic'>;
  /** Reads how long a machine may be silent, ms. */
  readPatienceMs(id: string): number;
  listMachines(): readonly WatchedMachine[];
  onSilent(machine: SilentMachine): void;
}): { look(): void; close(): void } {
  /** The silences that have begun, by machine. */
  const silences = new Map<string, { since: number; isReported: boolean }>();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  function look(): void {
    const now = clock.monotonic();
    for (const { id, name, state, sessions } of listMachines()) {
      if (state.state === 'ready') silences.delete(id);
      if (state.state !== 'silent') continue;
      const silence = silences.get(id) ?? { since: now, isReported: false };
      silences.set(id, silence);
      if (silence.isReported || sessions.length === 0 || now - silence.since < readPatienceMs(id)) continue;
      silence.isReported = true;
      onSilent({ id, name, why: state.why, sessions });
    }
  }

  return { look, close: () => clearInterval(timer) };
}
