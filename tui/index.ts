import type { EngineClient } from '../engine/index.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { openPreferenceFile } from './preferences/preference-file.ts';

export type { DashboardEnd, DashboardOptions } from './options.ts';

/**
 * Opens the dashboard and resolves when the person leaves it. Rejects if it cannot connect or fails. The terminal is
 * restored in every case.
 */
export async function openDashboard(given: DashboardOptions): Promise<DashboardEnd> {
  const { connect, close } = connectEarly(given.connect);
  const options = { ...given, connect };
  try {
    const read = await openPreferenceFile(given.env);
    const file = given.bell ? { ...read, preferences: { ...read.preferences, bell: true } } : read;
    if (options.plain) return await (await import('./plain/open-plain.ts')).openPlainDashboard(options, file);
    return await (await import('./open-screen.tsx')).openScreen(options, file);
  } finally {
    close();
  }
}

/** Starts to connect while the libraries load. The first call of `connect` gets that connection; `close` ends an unused one. */
function connectEarly(connect: DashboardOptions['connect']): {
  connect: DashboardOptions['connect'];
  close(): void;
} {
  let early: Promise<EngineClient> | null = connect(true);
  // The connection is awaited in a moment; until then a failure must not count as unhandled.
  early.catch(() => undefined);
  return {
    connect(start) {
      const first = early;
      early = null;
      return first ?? connect(start);
    },
    close: () =>
      void early?.then(
        (client) => client.close(),
        () => undefined,
      ),
  };
}
