-- Ends of Score-P regions.
-- formats: ctf
SELECT EVENT line, locationID AS track FROM _events.Event_Leave
