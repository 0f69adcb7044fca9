import type { EngineClient } from '../engine/index.ts';
import type { AllDashboardOptions } from './all/options.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { openPreferenceFile, type PreferenceFile } from './preferences/preference-file.ts';

export type { AllDashboardOptions } from './all/options.ts';
export type { DashboardEnd, DashboardOptions } from './options.ts';

/**
 * Opens the dashboard and resolves when the person leaves it. Rejects if it cannot connect or fails. The terminal is
 * always restored.
 */
export async function openDashboard(given: DashboardOptions): Promise<DashboardEnd> {
  const { connect, close } = connectEarly(given.connect);
  const options = { ...given, connect };
  try {
    const file = await openPreferences(given);
    if (options.plain) return await (await import('./plain/open-plain.ts')).openPlainDashboard(options, file);
    return await (await import('./open-screen.tsx')).openScreen(options, file);
  } finally {
    close();
  }
}

/** Opens the dashboard of all workspaces of this machine, like `openDashboard`; it starts no engine by itself. */
export async function openAllDashboard(options: AllDashboardOptions): Promise<DashboardEnd> {
  const file = await openPreferences(options);
  return (await import('./all/open-all.ts')).openAllScreen(options, file);
}

/** Returns a person's preferences, with command line options applied. */
async function openPreferences({
  env,
  bell,
}: Pick<DashboardOptions, 'env' | 'bell'>): Promise<PreferenceFile> {
  const file = await openPreferenceFile(env);
  return bell ? { ...file, preferences: { ...file.preferences, bell } } : file;
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
