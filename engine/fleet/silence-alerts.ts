import type { Clock } from '../core/base/clock.ts';
import type { MachineState } from './machine-connection.ts';

/** A machine that has been silent while sessions work there. */
export interface SilentMachine {
  name: string;
  /** Why it is not connected, a sentence; null if that is unknown. */
  why: string | null;
  sessions: string[];
}

/** A machine with the sessions that work there. */
interface WatchedMachine {
  name: string;
  state: MachineState;
  sessions: string[];
}

/** How long a machine may be silent before a person is notified, ms. */
const PATIENCE_MS = 300_000;
const LOOK_MS = 60_000;

/** Notifies a person once about each silence of a machine on which sessions work. */
export function watchSilence({
  clock,
  listMachines,
  onSilent,
}: {
  clock: Pick<Clock, 'now'>;
  listMachines(): readonly WatchedMachine[];
  onSilent(machine: SilentMachine): void;
}): { look(): void; close(): void } {
  /** The start of each silence that was reported, by name. */
  const reported = new Map<string, number>();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  function look(): void {
    for (const { name, state, sessions } of listMachines()) {
      const isSilent = state.state === 'silent' && clock.now() - state.since >= PATIENCE_MS;
      if (!isSilent || sessions.length === 0 || reported.get(name) === state.since) continue;
      reported.set(name, state.since);
      onSilent({ name, why: state.why, sessions });
    }
  }

  return { look, close: () => clearInterval(timer) };
}
