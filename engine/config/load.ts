import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type * as z from 'zod';
import type { ConsentStore } from '../core/access/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { findHalfCharacter } from '../core/base/text.ts';
import { resolveMachineHome } from '../core/workspace/machine-home.ts';
import { checkHomeOwner } from '../core/workspace/owner.ts';
import { ACP, HEADLESS, INTERACTIVE } from '../workers/agents/presets/index.ts';
import { applyConsent, type ConfigConsent, digestConsent, judgeConsent, readAgreed } from './consent.ts';
import { crossCheckConfig } from './cross-check.ts';
import { findOverriding, readEnvironmentLayer } from './environment.ts';
import { createSecretLookup, type MachineHome, readHome, type SecretLookup } from './home.ts';
import { describeKeys } from './keys.ts';
import { type ConfigTree, formatPath, getAt, isTree, mergeLayers, setAt } from './layers.ts';
import { suggestName } from './nearest.ts';
import {
  type ConfigFinding,
  type ConfigProblem,
  configInvalidError,
  describeProblem,
  listFindings,
} from './problems.ts';
import { type Config, configSchema, homeSchema, UNCOMPILED } from './schema.ts';
import { readSource, type YamlFile } from './source.ts';

/** The source of a key's value. */
export type ConfigSource = 'flag' | 'environment' | 'workspace' | 'home' | 'default';

/** A workspace's configuration, ready to use. */
export interface LoadedConfig {
  config: Config;
  /** The absolute folder of svc.yaml; relative paths in the configuration start here. */
  root: string;
  file: string;
  home: MachineHome;
  /** The source of each key of `describeKeys`. */
  sources: ReadonlyMap<string, ConfigSource>;
  /** Sentences for people, without secrets. */
  warnings: string[];
  /** Returns the value of a variable that a `*_env` key names. */
  lookup: SecretLookup;
  /** The values of svc.yaml, with or without consent. */
  tree: ConfigTree;
  /** The values that wait for a person's consent. */
  consent: ConfigConsent;
}

export interface LoadOptions {
  /** Path of svc.yaml. */
  file: string;
  env: NodeJS.ProcessEnv;
  /** Values of command-line flags by dotted key. */
  flags?: Readonly<Record<string, unknown>>;
  /** The machine home, if it has been read already. */
  home?: MachineHome;
  /** Text to use instead of the file's, to check a change before it is written. */
  text?: string;
  /** The consents of this machine, if already read. */
  consents?: ConsentStore | undefined;
  /** Use all values of the file without consent: for checking, or for a client that risks nothing. */
  believe?: boolean;
}

/**
 * Reads, merges and checks the configuration: flag over environment over workspace over home over default. Values of
 * the workspace's file that need consent are used once they were agreed to; until then the last agreed ones are.
 * Throws `config_invalid` with every problem and its place in the message and in `data.problems`, and
 * `owner_untrusted` for a machine home that another user can change.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const { env } = options;
  const file = resolve(options.file);
  if (options.home === undefined) checkHomeOwner(env, ['', 'ai.yaml', 'keys.env']);
  const home = options.home ?? readHome(resolveMachineHome(env));
  const workspace = readSource(file, options.text);
  const files = [workspace, ...(home.ai ? [home.ai] : [])];
  const labelFile = (path: string): string => (path === file ? basename(file) : path);

  const structural = [
    ...checkSource(workspace, configSchema),
    ...(home.ai ? checkSource(home.ai, homeSchema) : []),
  ];
  if (structural.length > 0) throw configInvalidError(structural, labelFile);

  const flags = readFlagLayer(options.flags ?? {});
  /** Assembles the whole configuration with `tree` as the workspace's file. */
  function assemble(tree: ConfigTree) {
    const written = mergeLayers(home.ai?.tree ?? {}, tree);
    const environment = readEnvironmentLayer(env, listPresets(written));
    const merged = mergeLayers(mergeLayers(written, environment), flags);
    const placeFinding = ({ path, message, key }: ConfigFinding): ConfigProblem =>
      placeProblem({ path, message, ...(key ? { key } : {}) }, flags, environment, files);

    const half = findHalfCharacter(merged);
    if (half !== null)
      throw configInvalidError(
        [placeFinding({ path: half, message: 'contains an unpaired surrogate' })],
        labelFile,
      );
    const parsed = configSchema.safeParse(merged, UNCOMPILED);
    if (!parsed.success)
      throw configInvalidError(listFindings(configSchema, merged, parsed.error).map(placeFinding), labelFile);
    const { errors, warnings } = crossCheckConfig(parsed.data);
    if (errors.length > 0) throw configInvalidError(errors.map(placeFinding), labelFile);
    const sources = listSources(flags, environment, tree, home.ai?.tree ?? {});
    return {
      config: followData(parsed.data, sources),
      sources,
      warnings: warnings.map((finding) => describeProblem(placeFinding(finding), labelFile)),
    };
  }

  const whole = assemble(workspace.tree);
  const { consent, agreed } =
    options.believe === true
      ? { consent: believeTree(workspace.tree), agreed: null }
      : judgeConsent({ file, tree: workspace.tree, home: home.path, env, consents: options.consents });
  // Agreed values may conflict with values that can be changed freely; then the file is ignored.
  const used =
    consent.pending.length === 0
      ? whole
      : findFirstValid([applyConsent(workspace.tree, agreed, consent), readAgreed(agreed), {}], assemble);
  return {
    config: used.config,
    root: realpathSync(dirname(file)),
    file,
    home,
    sources: used.sources,
    warnings: [...home.warnings, ...used.warnings, ...(consent.problem === null ? [] : [consent.problem])],
    lookup: createSecretLookup(env, home),
    tree: workspace.tree,
    consent,
  };
}

const believeTree = (tree: ConfigTree): ConfigConsent => ({
  state: 'given',
  pending: [],
  digest: digestConsent(tree),
  problem: null,
  firstUse: null,
});

/** Assembles the first tree that is valid; throws the error of the last one. */
function findFirstValid<T>(
  trees: readonly [ConfigTree, ...ConfigTree[]],
  assemble: (tree: ConfigTree) => T,
): T {
  const [first, second, ...others] = trees;
  if (second === undefined) return assemble(first);
  try {
    return assemble(first);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'config_invalid') throw error;
    return findFirstValid([second, ...others], assemble);
  }
}

/** Returns the schema errors of a file, each with its place. */
export function checkSource(source: YamlFile, schema: z.ZodType): ConfigProblem[] {
  if (source.problems.length > 0) return source.problems;
  const parsed = schema.safeParse(source.tree, UNCOMPILED);
  return parsed.success ? [] : listFindings(schema, source.tree, parsed.error).map(source.place);
}

/** Locates a finding in the layer that decides about it. */
function placeProblem(
  finding: ConfigFinding,
  flags: ConfigTree,
  environment: ConfigTree,
  files: readonly YamlFile[],
): ConfigProblem {
  const path = formatPath(finding.path);
  const nowhere = { file: null, line: null, column: null };
  for (let length = finding.path.length; length > 0; length--) {
    const part = finding.path.slice(0, length);
    if (isLeafOf(flags, part)) return { ...nowhere, by: 'flag', path, message: finding.message };
    if (isLeafOf(environment, part)) {
      const row = findOverriding(path);
      return { ...nowhere, by: row?.name ?? 'environment', path: row?.key ?? path, message: finding.message };
    }
    const source = files.find(({ tree }) => getAt(tree, part) !== undefined);
    if (source) return source.place(finding);
  }
  return files[0]!.place(finding);
}

const isLeafOf = (tree: ConfigTree, path: readonly PropertyKey[]): boolean => {
  const value = getAt(tree, path);
  return value !== undefined && !isTree(value);
};

function readFlagLayer(flags: Readonly<Record<string, unknown>>): ConfigTree {
  const known = describeKeys().map(({ key }) => key);
  const layer: ConfigTree = {};
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    if (!known.includes(key)) throw new SvcError('usage', `unknown key ${key}${suggestName(key, known)}`);
    setAt(layer, key.split('.'), value);
  }
  return layer;
}

function listPresets(written: ConfigTree): { all: string[]; acp: string[] } {
  const listNamesOf = (section: string, builtIn: object): string[] => {
    const own = getAt(written, ['agents', section]);
    return [...new Set([...Object.keys(builtIn), ...(isTree(own) ? Object.keys(own) : [])])];
  };
  const acp = listNamesOf('acp', ACP);
  return {
    all: [...new Set([...listNamesOf('cmds', HEADLESS), ...listNamesOf('interactive', INTERACTIVE), ...acp])],
    acp,
  };
}

function listSources(
  flags: ConfigTree,
  environment: ConfigTree,
  workspace: ConfigTree,
  home: ConfigTree,
): Map<string, ConfigSource> {
  const layers = [
    ['flag', flags],
    ['environment', environment],
    ['workspace', workspace],
    ['home', home],
  ] as const;
  return new Map(
    describeKeys().map(({ key }) => {
      const by = layers.find(([, tree]) => getAt(tree, key.split('.')) !== undefined);
      return [key, by?.[0] ?? 'default'];
    }),
  );
}

/** Moves default paths below `.svc` with `paths.data`, so that one key moves all data of the engine. */
function followData(config: Config, sources: ReadonlyMap<string, ConfigSource>): Config {
  const data = config.paths.data;
  if (sources.get('paths.data') === 'default') return config;
  const moveBelowData = (key: string, value: string): string =>
    sources.get(key) === 'default' && value.startsWith('.svc/')
      ? join(data, value.slice('.svc/'.length))
      : value;
  return {
    ...config,
    context: { ...config.context, dir: moveBelowData('context.dir', config.context.dir) },
    daemon: { ...config.daemon, socket: moveBelowData('daemon.socket', config.daemon.socket) },
    db: { ...config.db, path: moveBelowData('db.path', config.db.path) },
    memory: { ...config.memory, okf_dir: moveBelowData('memory.okf_dir', config.memory.okf_dir) },
    server: { ...config.server, token_path: moveBelowData('server.token_path', config.server.token_path) },
    paths: {
      ...config.paths,
      agents: moveBelowData('paths.agents', config.paths.agents),
      worktrees: moveBelowData('paths.worktrees', config.paths.worktrees),
    },
  };
}

/** Absolute paths of the engine's data. */
export interface DataPaths {
  data: string;
  db: string;
  socket: string;
  agents: string;
  worktrees: string;
}

/** Returns the absolute paths of a loaded workspace. */
export function resolveDataPaths({ root, config }: Pick<LoadedConfig, 'root' | 'config'>): DataPaths {
  return {
    data: resolve(root, config.paths.data),
    db: resolve(root, config.db.path),
    socket: resolve(root, config.daemon.socket),
    agents: resolve(root, config.paths.agents),
    worktrees: resolve(root, config.paths.worktrees),
  };
}
