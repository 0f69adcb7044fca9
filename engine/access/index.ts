export {
  type AgreedFile,
  type Consents,
  changeConsents,
  digestSetup,
  listKnownConfigFiles,
  readConsents,
  resolveConsentsFile,
  writeProjectConsent,
} from './consents.ts';
export { decideSeat, type SeatClaim } from './seats.ts';
