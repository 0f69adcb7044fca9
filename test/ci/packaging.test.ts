import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { isInstalled } from '../support/workspaces/layouts.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const FORMULA = join(PROJECT, 'docs/packaging/svc.rb');
const FLAKE = join(PROJECT, 'docs/packaging/flake.nix');

const { name, version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
};
const ARCHIVE = `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`;

const needs = (...programs: string[]): false | string => {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length > 0 && `${missing.join(', ')} is not installed`;
};

const run = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', env: { ...process.env, NIX_REMOTE: 'dummy://' } });

/** Declares the words of a formula that are not in its methods, and prints them. */
const HOMEBREW = `
class Formula
  %i[desc homepage url sha256 license depends_on].each do |word|
    define_singleton_method(word) { |value| puts "#{word} #{value}" }
  end
  def self.test; end
end`;

test('the formula of Homebrew is Ruby, and installs the archive of this version', {
  skip: needs('ruby'),
}, () => {
  assert.equal(run('ruby', '-wc', FORMULA), 'Syntax OK\n');
  const said = run('ruby', '-e', `${HOMEBREW}\nload ARGV[0]\nputs Svc.superclass`, FORMULA).split('\n');
  assert.ok(said.includes(`url ${ARCHIVE}`), said.join('\n'));
  assert.ok(said.includes('license MIT'));
  assert.ok(said.includes('Formula'));
});

/** Replaces nixpkgs by functions that return their arguments. */
const NIXPKGS = `{
  lib.genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
  legacyPackages.x86_64-linux = {
    buildNpmPackage = given: given;
    fetchurl = given: given;
    lib = { fakeHash = "none"; licenses.mit = "MIT"; };
    jq = "/usr";
    nodejs_24 = "node";
  };
}`;

const evaluate = (attribute: string): unknown => {
  const built = `((import ${FLAKE}).outputs { nixpkgs = ${NIXPKGS}; self = { }; }).packages.x86_64-linux.default`;
  return JSON.parse(
    run('nix-instantiate', '--eval', '--strict', '--json', '--expr', `(${built}).${attribute}`),
  );
};

test('the flake of Nix can be evaluated, and builds the archive of this version', {
  skip: needs('nix-instantiate'),
}, () => {
  assert.equal(evaluate('pname'), name);
  assert.equal(evaluate('version'), version);
  assert.deepEqual(evaluate('src'), { url: ARCHIVE, hash: 'none' });
  assert.equal((evaluate('meta') as { mainProgram: string }).mainProgram, 'svc');
});

const folder = temporaryFolder('svc-packaging-');
after(() => rmSync(folder, { recursive: true, force: true }));

test('the flake of Nix fetches every package that runs, and none for development', {
  skip: needs('nix-instantiate', 'jq'),
}, () => {
  const lock = 'docs/packaging/package-lock.json';
  mkdirSync(join(folder, dirname(lock)), { recursive: true });
  for (const file of ['package.json', lock]) copyFileSync(join(PROJECT, file), join(folder, file));
  const script = String(evaluate('postPatch')).replaceAll('/usr/bin/jq', 'jq');
  execFileSync('sh', ['-e', '-c', script], { cwd: folder });
  // Offline it can only succeed if package.json and the lock agree.
  const words = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', words, { cwd: folder, stdio: 'pipe' });
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  assert.ok('node_modules/better-sqlite3' in packages);
  assert.deepEqual(
    Object.entries(packages).filter(([, { dev }]) => dev),
    [],
  );
});
