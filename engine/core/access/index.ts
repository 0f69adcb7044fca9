export {
  type AgreedFile,
  type ConsentStore,
  changeConsents,
  digestSetup,
  listKnownConfigFiles,
  readConsents,
  resolveConsentsFile,
  writeProjectConsent,
} from './consents.ts';
export { describeLease, type LeaseFacts } from './entitlements.ts';
export { decideSeat, type SeatClaim } from './seats.ts';
