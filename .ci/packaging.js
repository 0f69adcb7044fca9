// Writes the formula of Homebrew, the flake of Nix and its lock file from package.json. Both install the archive of the registry, whose
// hash is known only after its publication.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const { name, version, description, license, bin, devDependencies } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
if (license !== 'MIT') throw new Error(`.ci/packaging.js does not know the names of the licence ${license}`);

const [command] = Object.keys(bin);
const [nodeMajor] = devDependencies.node.split('.');
/** The description without its article and details, as both want it. */
const [, first, rest] = /^A (\w)([^:]*)/.exec(description);
const summary = `${first.toUpperCase()}${rest}`;

const page = `https://www.npmjs.com/package/${name}`;
const archive = (at) => `https://registry.npmjs.org/${name}/-/${name}-${at}.tgz`;

/** Returns the formula. Without its hash, Homebrew stops before it installs anything. */
export function renderFormula(saysSo) {
  return `# ${saysSo}
class ${command[0].toUpperCase()}${command.slice(1)} < Formula
  desc "${summary}"
  homepage "${page}"
  url "${archive(version)}"
  # Replace it, as README.md says.
  sha256 "${'0'.repeat(64)}"
  license "${license}"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/${command} --version").strip
    system bin/"${command}", "init", "--yes"
    assert_path_exists testpath/"${command}.yaml"
  end
end
`;
}

/** Returns the lock file without the packages for development, since no lock file is part of an archive. */
export function renderLock() {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const { devDependencies: _, ...own } = lock.packages[''];
  const running = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  return `${JSON.stringify({ ...lock, packages: Object.fromEntries([['', own], ...running]) }, null, 2)}\n`;
}

/** Returns the flake. Without its hashes, Nix stops and prints the right ones. */
export function renderFlake(saysSo) {
  return `# ${saysSo}
{
  description = "${summary}";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { nixpkgs, ... }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      build = pkgs: pkgs.buildNpmPackage rec {
        pname = "${name}";
        version = "${version}";

        src = pkgs.fetchurl {
          url = "${archive(`\${version}`)}";
          # Replace both hashes, as README.md says.
          hash = pkgs.lib.fakeHash;
        };
        npmDepsHash = pkgs.lib.fakeHash;

        # The archive is built, so packages for its development are not fetched.
        postPatch = ''
          \${pkgs.jq}/bin/jq 'del(.devDependencies)' package.json > package.new
          mv package.new package.json
          cp docs/packaging/package-lock.json .
        '';
        dontNpmBuild = true;
        # Native packages bring their built addons.
        npmFlags = [ "--ignore-scripts" ];
        nodejs = pkgs.nodejs_${nodeMajor};

        meta = {
          description = "${summary}";
          homepage = "${page}";
          license = pkgs.lib.licenses.mit;
          mainProgram = "${command}";
          platforms = systems;
        };
      };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = build nixpkgs.legacyPackages.\${system};
      });
    };
}
`;
}
