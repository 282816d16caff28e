-- Ends of regions of Score-P.
-- formats: ctf
SELECT EVENT line, locationID AS track FROM _events.Event_Leave
